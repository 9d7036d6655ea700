"""The methods of a rule set that write it for other systems, all of which decide as `predict` does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from clausewise.io.sql import DialectName
    from clausewise.rules.ruleset import RuleSet


class Exports:
    """The exports of `RuleSet`. Each is written by a module of `clausewise.io`, loaded when asked for."""

    __slots__ = ()

    def to_sql(
        self, table: str | Sequence[str], dialect: "DialectName" = "sqlite", *, decision: str = "decision"
    ) -> str:
        """A query that scores a table: all of its columns, the votes, and as the last column the decision.

        The table needs a column for each feature that the rules test, by name. NULL and NaN are missing.
        Names of further columns must not begin with `clausewise_`; those of the votes do.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table, or its parts, such as `("schema", "table")`.
        dialect : {"sqlite", "postgresql", "duckdb", "bigquery"}
            The database that it is for.
        decision : str
            Name of the last column.

        Returns
        -------
        str
            A SELECT without a semicolon.
        """
        from clausewise.io import sql

        return sql.to_sql(_rules(self), table, dialect, decision)

    def to_python(self) -> str:
        """The text of a Python module with `predict(row)` and `predict_many(rows)`, which imports nothing.

        A row is a mapping from names to values, or a sequence of values; None and NaN are missing.
        """
        from clausewise.io import python

        return python.to_python(_rules(self))

    def to_pmml(self) -> str:
        """The rules as a PMML 4.4 document with a RuleSetModel.

        Rules with priority become a model of their own in front of the other. Votes are written as whole
        numbers if these stay small, else the totals are computed in derived fields, whose order of additions
        is certain. An engine must be given missing values as missing, not as NaN.
        """
        from clausewise.io import pmml

        return pmml.to_pmml(_rules(self))

    def to_onnx(self) -> Any:
        """The rules as an ONNX model with the outputs `label` and `scores`.

        If all features are numeric or binary, it has one input `X`, doubles of shape (rows, features), NaN
        where missing. Else it has one input of shape (rows, 1) per feature, by its name: strings for
        categories that are text, doubles for all others. Any string that is no category stands for a missing
        one.

        Returns
        -------
        onnx.ModelProto
            `.SerializeToString()` gives the bytes of a file. It is evaluated on as many rows at once as it is
            given, with some 10 bytes per rule and row.
        """
        from clausewise.io import onnx

        return onnx.to_onnx(_rules(self))

    def to_markdown(self) -> str:
        """The rules as a table in Markdown, with a line on classes and voting."""
        from clausewise.io import tables

        return tables.to_markdown(_rules(self))

    def to_latex(self, *, longtable: bool = False) -> str:
        r"""The rules as a LaTeX table in the style of booktabs.

        Parameters
        ----------
        longtable : bool, default False
            A `longtable`, which continues on the next page, in place of a `tabular`.

        Returns
        -------
        str
            Needs `\usepackage{booktabs}`, and `\usepackage{longtable}` for a long one.
        """
        from clausewise.io import tables

        return tables.to_latex(_rules(self), longtable)

    def to_graphviz(self) -> str:
        """The rules as a tree in Graphviz's DOT language: rules that begin with the same terms share them.

        Drawn by `dot -Tsvg`, or by a notebook with the package graphviz.
        """
        from clausewise.io import graphviz

        return graphviz.to_graphviz(_rules(self))


def _rules(rules: Exports) -> "RuleSet":
    return cast("RuleSet", rules)
