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
    """Return the report on rules of any kind; see `RuleSet.show` and `RegressionRules.show`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.report import show
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> view = show(rules, [[30], [60]], network=["low", "high"], height=500)  # as rules.show(…)
    >>> view.height
    500
    """
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

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> view = rules.show([[30], [60]], ["low", "high"], title="Credit risk")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     view.save(Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8") == view.html
    True
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
