"""What a rule set can show of itself in a browser."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from clausewise.compact.frontier import Frontier
    from clausewise.report import ReportView
    from clausewise.rules.ruleset import RuleSet


class Reporting:
    """The methods of a RuleSet that make reports."""

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        max_rows: int | float | None = 2_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        compare: Mapping[str, "RuleSet"] | None = None,
    ) -> None:
        """Write one HTML file that shows the rules, for any browser, from disk or by mail.

        Nothing is loaded from anywhere when it is opened. An interrupted call leaves the old file as it was;
        the same arguments give the same file.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to show the rules on. Measures and histograms are those of all of them; a sample is put into
            the file, so that decisions can be looked at, and edits tried out, in the browser. Whoever has
            the file can read these rows.
        y : array-like of shape (n_rows,), optional
            Their true classes.
        network : optional
            Anything that `clausewise.wrap` takes, to compare the rules with, or an array of its labels.
        title : str, optional
            Shown above everything.
        max_rows : int, float or None, default 2000
            Number (or part) of the rows that go into the file, drawn in proportion to the classes; all for
            None.
        random_state : int, default 0
            Draws them.
        frontier : Frontier, optional
            What `frontier` found, to be shown as a curve.
        compare : mapping of str to RuleSet, optional
            Other rules, by title, such as those of last year, to compare these with in the browser.
        """
        self.show(
            X,
            y,
            network,
            title=title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            compare=compare,
        ).save(path)

    def show(
        self,
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        max_rows: int | float | None = 2_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        compare: Mapping[str, "RuleSet"] | None = None,
        height: int = 720,
    ) -> "ReportView":
        """The report as an object that a notebook shows in an isolated frame.

        Parameters
        ----------
        X, y, network, title, max_rows, random_state, frontier, compare
            As for `report`.
        height : int, default 720
            Of the frame, in pixels.
        """
        from clausewise.report import ReportView, page, payload_of, report_data

        rules = cast("RuleSet", self)  # the only class with these methods
        payload = payload_of(
            rules,
            report_data(rules, X, y, network),
            title=title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            compare=compare,
        )
        return ReportView(page(payload), height)

    def explore(
        self,
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        port: int = 0,
        open_browser: bool = True,
        max_rows: int | float | None = 20_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
    ) -> None:
        """Show the report in a browser, with all rows and the network itself behind it, until Ctrl-C.

        The page is served to this machine alone, under an address with a random part that is printed. In it,
        the network answers for rows that are typed in, and edited rules are measured on all rows of `X`.
        `clausewise.report.serve.Explorer` does the same without waiting, for notebooks.

        Parameters
        ----------
        X, y, network, title, random_state, frontier
            As for `report`.
        port : int, default 0
            Where the server listens; 0 for any free port.
        open_browser : bool, default True
            Whether to open the page in the browser.
        max_rows : int, float or None, default 20000
            Number (or part) of the rows that go into the page; all for None.
        """
        from clausewise.report.serve import explore

        explore(
            cast("RuleSet", self),
            X,
            y,
            network,
            title=title,
            port=port,
            open_browser=open_browser,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
        )
