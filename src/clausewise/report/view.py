"""Report objects, which can be saved to a file or shown in a notebook."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from clausewise.base.parameters import check_parameters, whole
from clausewise.compact import Frontier
from clausewise.io.atomic import write_atomically
from clausewise.report.html import page
from clausewise.report.number_payload import (
    check_number_report_parameters,
    number_payload_of,
    number_report_data,
)
from clausewise.report.payload import MAX_ROWS, check_report_parameters, payload_of, report_data
from clausewise.rules import RegressionRules, RuleSet


def show(
    rules: RuleSet,
    X: Any = None,
    y: Any = None,
    network: Any = None,
    *,
    title: str | None = None,
    max_rows: int | float | None = MAX_ROWS,
    random_state: int = 0,
    frontier: Frontier | None = None,
    compare: Mapping[str, RuleSet] | None = None,
    labels: Mapping[Any, Any] | None = None,
    colors: Mapping[Any, str] | Sequence[str] | None = None,
    fixed: Iterable[str | int] | None = None,
    height: int = 720,
) -> "ReportView":
    """Return the report on a rule set; see `RuleSet.show`."""
    options: dict[str, Any] = {
        "title": title,
        "max_rows": max_rows,
        "random_state": random_state,
        "frontier": frontier,
        "compare": compare,
        "labels": labels,
        "colors": colors,
        "fixed": fixed,
    }
    check_report_parameters(**options)
    check_parameters({"height": whole(1)}, {"height": height})
    payload = payload_of(rules, report_data(rules, X, y, network), **options)
    return ReportView(page(payload), height)


def show_numbers(
    rules: RegressionRules,
    X: Any = None,
    target: Any = None,
    network: Any = None,
    *,
    title: str | None = None,
    max_rows: int | float | None = MAX_ROWS,
    random_state: int = 0,
    frontier: Frontier | None = None,
    labels: Mapping[Any, Any] | None = None,
    height: int = 720,
) -> "ReportView":
    """Return the report on rules for numbers; see `RegressionRules.show`."""
    options: dict[str, Any] = {
        "title": title,
        "max_rows": max_rows,
        "random_state": random_state,
        "frontier": frontier,
        "labels": labels,
    }
    check_number_report_parameters(**options)
    check_parameters({"height": whole(1)}, {"height": height})
    payload = number_payload_of(rules, number_report_data(rules, X, target, network), **options)
    return ReportView(page(payload), height)


@dataclass(frozen=True)
class ReportView:
    """A report that notebooks show in an isolated frame, without access to the notebook or the internet.

    Attributes
    ----------
    html : str
        The page, as `RuleSet.report` writes it.
    height : int
        Height of the frame in pixels.
    """

    html: str = field(repr=False)
    height: int = 720

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file; an interrupted save leaves the old file as it was."""
        write_atomically(path, self.html.encode("utf-8"))

    def _repr_html_(self) -> str:
        return (
            '<iframe sandbox="allow-scripts allow-downloads" title="Report on rules" '
            f'style="width:100%;height:{self.height}px;border:1px solid #888" '
            f'srcdoc="{escape(self.html, quote=True)}"></iframe>'
        )
