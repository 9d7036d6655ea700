"""A report inside a notebook."""

import os
from dataclasses import dataclass, field
from html import escape

from clausewise.io.atomic import write_atomically


@dataclass(frozen=True)
class ReportView:
    """A report that notebooks show in a frame of its own, which can reach neither notebook nor network.

    Attributes
    ----------
    html : str
        The page, as `RuleSet.report` writes it.
    height : int
        Of the frame, in pixels.
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
