"""Report objects, which can be saved to a file or shown in a notebook."""

import os
from dataclasses import dataclass, field
from html import escape
from typing import Any

from clausewise.base.parameters import check_parameters, whole
from clausewise.io.atomic import write_atomically
from clausewise.report.html import page
from clausewise.report.page_kinds import AnyRules, page_kind


def show(
    rules: AnyRules,
    X: Any = None,
    y: Any = None,
    network: Any = None,
    *,
    height: int = 720,
    **options: Any,
) -> "ReportView":
    """Return the report on rules of any kind; see `RuleSet.show` and `RegressionRules.show`."""
    kind = page_kind(rules)
    kind.check(options)
    check_parameters({"height": whole(1)}, {"height": height})
    return ReportView(page(kind.payload(rules, kind.data(rules, X, y, network), **options)), height)


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
