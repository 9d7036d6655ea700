"""Rules for numbers that users hold, with one method for everything that can be done with them.

Like `ruleset.py`, the methods below are delegates: they document a call and hand it to a function of a higher
folder, imported when the method is called.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.data.features import Features
from clausewise.rules.regression_base import BaseRegressionRules
from clausewise.rules.regression_rule import RegressionRule

if TYPE_CHECKING:
    from clausewise.analysis import (
        Comparison,
        Counterfactuals,
        RegressionEvaluation,
        SumExplanations,
        SumOverview,
    )
    from clausewise.compact import Frontier
    from clausewise.export import DialectName
    from clausewise.report import ReportView, Validation
    from clausewise.rules.guarantee import Guarantee

RegressionRuleLike = RegressionRule | str
"""A rule for numbers, or text in the rule language (one rule or several)."""


class RegressionRules(BaseRegressionRules):
    """Rules over the columns of a table that predict a number: a sum of what each rule adds.

    A prediction is `base`, plus the addition of every rule that fires, plus the linear terms. Immutable; made
    by `RegressionRules.from_rules`, `RegressionRules.from_arrays`, `RegressionRules.from_text` or
    `RegressionRules.load`. `rules[3]` is a RegressionRule; `rules[3:7]`, `rules[mask]` and `rules[[1, 4]]`
    are rule sets with the same base and linear part.

    Attributes
    ----------
    features : Features
        The columns that the rules may test.
    columns : ResponseColumns
        The stored rules; `weight` is what each of them adds.
    base : float
        What every row starts with.
    linear : tuple of LinearTerm
        Coefficients of single features, added to every row after the rules; often empty.
    link : {"identity", "log"}
        With "log", for counts and other positive responses, the prediction is e to the power of the sum.
    response : str or None
        Name of what is predicted.
    response_range : tuple of float or None
        The smallest and the largest response in the training rows.
    voting : "sum"
        How the rules decide together.
    changes : tuple of RuleChange
        Edits made by hand (`add`, `remove`, `replace`, `reweight`), oldest first. Equality ignores them.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> rules = RegressionRules.from_text(
    ...     '''
    ...     BASE 1.5
    ...     RESPONSE price
    ...     LINEAR rooms 0.2
    ...     IF age > 50 THEN ADD -0.4
    ...     IF income > 4 AND rooms > 3 THEN ADD 1.2
    ...     ''',
    ...     ["age", "income", "rooms"],
    ... )
    >>> print(rules)
    2 rules for price; start at 1.5 and add, with 1 linear term
    0  IF age > 50 THEN -0.4
    1  IF income > 4 AND rooms > 3 THEN +1.2
       +0.2 × rooms
    >>> rules.predict([[20, 6, 5], [60, 3, 4]])
    array([3.7, 1.9])
    >>> print(rules.explain([[60, 6, 5]])[0])
    row 0 → price 3.3
        1.5  start
       -0.4  rule 0: age > 50
       +1.2  rule 1: income > 4 AND rooms > 3
         +1  0.2 × rooms = 5
      = 3.3
    """

    # --- Rows: why, what if, how good ---

    def explain(self, X: Any, *, n_jobs: int | None = None) -> "SumExplanations":
        """Explain the prediction for each row: the sum itself, part by part, and near misses.

        A near miss is a rule with exactly one failing term.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to explain; as for `predict`.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        SumExplanations
            One SumExplanation per row: `rules.explain(row)[0]` for a single one.
        """
        from clausewise.analysis import explain_sums

        return explain_sums(self, X, n_jobs)

    def explain_global(self, X: Any, *, random_state: int = 0, n_jobs: int | None = None) -> "SumOverview":
        """Summarise what the rules do on these rows: how often they fire, and which of them matter most.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to count on; as for `predict`.
        random_state : int, default 0
            Draws the rows that exchange values, by which the effect of each feature is measured.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        SumOverview
            With the effects of rules and of features; `print` it, or `to_frame()` and `features_to_frame()`.
        """
        from clausewise.analysis import sum_overview

        return sum_overview(self, X, random_state, n_jobs)

    def evaluate(
        self,
        X: Any,
        target: ArrayLike | None = None,
        *,
        network: Any = None,
        tolerance: float | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "RegressionEvaluation":
        """Measure the rules on these rows against the true numbers, the network, or both.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to measure on, as for `predict`; best those that nothing was learnt from.
        target : array-like of shape (n_rows,), optional
            True numbers. For rows that need not fit into memory, the name of the column that holds them.
        network : model or array-like of shape (n_rows,), optional
            The network, or its numbers for these rows, to measure fidelity to. For rows that need not fit
            into memory, a model, or the name of a column.
        tolerance : float, optional
            An error up to which a prediction counts as right; a tenth of the width of the middle 90 % of the
            numbers unless given.
        random_state : int, default 0
            Draws the resamples of the intervals.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.
        verbose : int, default 0
            1 shows progress on rows that are read in parts.

        Returns
        -------
        RegressionEvaluation
            With R², mean absolute error, root mean squared error, largest error and the fraction within the
            tolerance, their intervals and their baselines. `print` it.
        """
        from clausewise.analysis import evaluate_numbers

        return evaluate_numbers(self, X, target, network, tolerance, random_state, n_jobs, verbose)

    def compact(
        self,
        X: Any,
        target: Any,
        *,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        linear: bool | int = False,
        loss: Literal["squared", "huber", "absolute", "poisson"] | None = None,
        max_terms: int = 6,
        price: float | None = None,
        penalty: float | None = None,
        synthetic: float | Literal["auto"] = "auto",
        max_seconds: float | None = None,
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "RegressionRules":
        """Search for few rules that add up to the target, starting from these and from scratch.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to learn from. Rows that need not fit into memory are taken, too; see
            `clausewise.partitioned`.
        target : model or array-like of shape (n_rows,)
            What to predict: a model that returns numbers, or a number per row. For rows that need not fit
            into memory, a model, or the name of a column.
        max_rules, max_conditions : int, optional
            The most rules, and the most to read (`reading_cost`). Without either, the size is chosen on
            held-out rows, as by `RuleRegressor`.
        loss : {"squared", "huber", "absolute", "poisson"}, optional
            What to minimise; "poisson" for rules with the link "log", and else "squared", unless given.
        linear, max_terms, price, penalty, synthetic, max_seconds, random_state, n_jobs, verbose
            As for `RuleRegressor`.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts.

        Returns
        -------
        RegressionRules
            The rules found, with statistics counted on these rows.
        """
        from clausewise.compact import compact_numbers

        return compact_numbers(
            self,
            X,
            target,
            max_rules=max_rules,
            max_conditions=max_conditions,
            linear=linear,
            loss=loss,
            max_terms=max_terms,
            price=price,
            penalty=penalty,
            synthetic=synthetic,
            max_seconds=max_seconds,
            sample_weight=sample_weight,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def frontier(
        self,
        X: Any,
        target: Any,
        *,
        by: Literal["rules", "conditions"] = "conditions",
        max_rules: int = 64,
        max_conditions: int = 128,
        linear: bool | int = False,
        loss: Literal["squared", "huber", "absolute", "poisson"] | None = None,
        max_terms: int = 6,
        price: float | None = None,
        penalty: float | None = None,
        synthetic: float | Literal["auto"] = "auto",
        sample_weight: ArrayLike | None = None,
        n_splits: int = 3,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "Frontier":
        """Measure R² on held-out rows for rules of every size up to a limit; the parameters of `compact`.

        Each split holds out a fifth of the rows and searches rules of all sizes on the others. With a loss
        other than the squared one, the fraction of the loss of the best constant that the rules explain (D²)
        is measured instead.

        Parameters
        ----------
        X, target, linear, loss, max_terms, price, penalty, synthetic, sample_weight, n_jobs, verbose
            As for `compact`.
        by : {"conditions", "rules"}, default "conditions"
            What a size is: a reading cost, or a number of rules.
        max_rules, max_conditions : int, default 64 and 128
            The largest size.
        n_splits : int, default 3
            Number of random splits.
        random_state : int, RandomState or None
            Draws the held-out rows. None stands for 0.

        Returns
        -------
        Frontier
            With `budgets`, `fidelity` (here R²), `spread`, `n_rules`, `reading_cost`, the recommended `knee`,
            and `plot()`.
        """
        from clausewise.compact import frontier_numbers

        return frontier_numbers(
            self,
            X,
            target,
            by=by,
            max_rules=max_rules,
            max_conditions=max_conditions,
            linear=linear,
            loss=loss,
            max_terms=max_terms,
            price=price,
            penalty=penalty,
            synthetic=synthetic,
            sample_weight=sample_weight,
            n_splits=n_splits,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def counterfactuals(
        self,
        X: Any,
        *,
        above: float | None = None,
        below: float | None = None,
        max_features: int = 2,
        network: Any = None,
        reference: Any = None,
        fixed: Iterable[str | int] | None = None,
        increase_only: Iterable[str | int] | None = None,
        decrease_only: Iterable[str | int] | None = None,
        allowed: Mapping[str | int, Any] | None = None,
        max_queries: int = 1000,
        n_jobs: int | None = None,
    ) -> "Counterfactuals":
        """Find, for each row, the smallest change after which the prediction is in a wanted range.

        For rules without a linear part, the search is exact for one and two features. With one, values of its
        features change in steps of about a fiftieth of their range, so that a change may be a step too large;
        what is found always holds. Distances, new values and the part of `network` are those of
        `RuleSet.counterfactuals`.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to find changes for; as for `predict`.
        above, below : float, optional
            The limits of the wanted range, at least one of them; a prediction on a limit is not in it.
        max_features, reference, fixed, increase_only, decrease_only, allowed, max_queries, n_jobs
            As for `RuleSet.counterfactuals`.
        network : model, optional
            A model that must confirm the changes: on the changed row, its number is in the wanted range, too.

        Returns
        -------
        Counterfactuals
            A NumberCounterfactual per row; `print` it, `to_frame()` for a table, `rows` for the changed rows.

        Examples
        --------
        >>> from clausewise import RegressionRule, RegressionRules, Term
        >>> rule = RegressionRule((Term(0, "income", low=5.1),), 1.4)
        >>> rules = RegressionRules.from_rules([rule], ["income", "age"], base=2.07)
        >>> print(rules.counterfactuals([[6.0, 30.0]], below=3))
        row 0: 3.47 becomes 2.07 if income 6 → 5.1
        """
        from clausewise.analysis import number_counterfactuals

        return number_counterfactuals(
            self,
            self.features.table(X),
            above,
            below,
            max_features,
            network,
            reference,
            fixed=fixed,
            increase_only=increase_only,
            decrease_only=decrease_only,
            allowed=allowed,
            max_queries=max_queries,
            n_jobs=n_jobs,
        )

    def guarantee(
        self,
        X: Any,
        network: Any,
        tolerance: float,
        confidence: float = 0.95,
        *,
        overlap: Literal["refuse", "drop", "keep"] = "refuse",
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> "Guarantee":
        """Bound, on fresh rows, how often rules and network differ by no more than a tolerance.

        The intervals are exact (Clopper–Pearson) and hold all at once (Bonferroni), with the given
        confidence. They are about rows of the kind that `X` is drawn from: `X` must be an independent sample
        of these, and nothing may have been learnt from it, neither the rules nor, best, the network.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Fresh rows, as for `predict`.
        network : model or array-like of shape (n_rows,)
            The network, or its numbers of these rows.
        tolerance : float
            The largest difference between rules and network that counts as agreement, in the unit of the
            response.
        confidence : float, default 0.95
            The probability with which all intervals hold.
        overlap : {"refuse", "drop", "keep"}, default "refuse"
            What to do with rows that the rules were learnt from: raise an error that says how many, or leave
            them out. "keep" counts them, for tables in which independent rows are often equal.
        groups : array-like of shape (n_rows,), optional
            What each row belongs to, such as a customer. Rows of one group are not independent, so one of
            each group is drawn and counted.
        sample_weight : None
            Weighted rows are refused: exact bounds are about counts.
        random_state : int or RandomState, optional
            Draws the rows of groups; 0 unless given.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        Guarantee
            `print` it; `to_frame()` for a table. `with_guarantee` attaches it to the rules, so that files,
            reports and exports show it.
        """
        from clausewise.analysis import guarantee_numbers

        return guarantee_numbers(
            self,
            X,
            network,
            tolerance,
            confidence,
            overlap=overlap,
            groups=groups,
            sample_weight=sample_weight,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def compare(self, other: "RegressionRules", X: Any = None) -> "Comparison":
        """Compare with a later rule set: rules added, removed and changed, and rows whose prediction differs.

        Parameters
        ----------
        other : RegressionRules
            The later rules; features are matched by name.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows that both predict; a DataFrame may hold the columns of either.
        """
        from clausewise.analysis import compare_sums

        return compare_sums(self, other, X)

    def simplify(
        self, *, tolerance: float = 0.0, X: Any = None, target: Any = None, n_jobs: int | None = None
    ) -> "RegressionRules":
        """Return fewer rules that predict the same for every possible row, or nearly so on given rows.

        Without a tolerance no prediction changes: rules that never fire or add 0 are dropped, equal and
        neighbouring rules are merged, as far as that is exact.

        Parameters
        ----------
        tolerance : float, default 0
            How much of R² to `target` on the rows of `X` may be lost. Terms and rules are then dropped one by
            one, cheapest first; what is left adds what it did.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to measure on; required with a tolerance.
        target : model or array-like of shape (n_rows,), optional
            What the rules should predict: a network, its numbers, or true numbers; the rules' present
            predictions unless given.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        RegressionRules
            Statistics of a rule that lost a term are counted on `X` and `target`.
        """
        from clausewise.analysis import simplify_sums

        return simplify_sums(self, tolerance, X, target, n_jobs)

    # --- Edits ---

    @staticmethod
    def from_text(text: str, features: Features | Sequence[str] | None = None) -> "RegressionRules":
        """Read rules for numbers written in the rule language, such as `to_text` returns.

        Parameters
        ----------
        text : str
            The rules (IF … THEN ADD 1.4), with or without a header.
        features : Features or sequence of str, optional
            The features that rules may test, unless the text declares them (FEATURE); names alone are
            numeric.

        Raises
        ------
        RuleTextError
            With the line and column of the mistake.
        """
        from clausewise.rules.text import read_regression

        return read_regression(text, features)

    def to_text(self, *, header: bool = True) -> str:
        """Return the rules in the rule language, one per line; `from_text` reads an equal rule set back.

        Parameters
        ----------
        header : bool, default True
            Whether to write features, base, linear terms and link before the rules. Without them, a reader
            starts at 0 and adds the rules only.
        """
        from clausewise.rules.text import write_regression, write_regression_rules

        lines = write_regression_rules(self)
        return write_regression(self) if header else "".join(f"{rule}\n" for rule in lines)

    def add(
        self,
        rules: RegressionRuleLike | Iterable[RegressionRuleLike],
        *,
        at: int | None = None,
        note: str | None = None,
        author: str | None = None,
    ) -> "RegressionRules":
        """Return a rule set with more rules, appended or inserted at a position.

        Parameters
        ----------
        rules : RegressionRule, str or iterable of them
            Rules, or text in the rule language: `'IF age <= 17 THEN ADD -0.5'`.
        at : int, optional
            Number of the first new rule.
        note, author : str, optional
            The reason, and who made the edit, for the log.
        """
        from clausewise.rules import editing

        return editing.add(self, rules, at, note, author)

    def remove(
        self,
        which: int | slice | Sequence[int] | NDArray[Any],
        *,
        note: str | None = None,
        author: str | None = None,
    ) -> "RegressionRules":
        """Return a rule set without some rules, given by number, slice, list of numbers or mask."""
        from clausewise.rules import editing

        return editing.remove(self, which, note, author)

    def replace(
        self, number: int, rule: RegressionRuleLike, *, note: str | None = None, author: str | None = None
    ) -> "RegressionRules":
        """Return a rule set with one rule replaced; nothing of the old rule is kept."""
        from clausewise.rules import editing

        return editing.replace_rule(self, number, rule, note, author)

    def reweight(
        self,
        which: int | slice | Sequence[int] | NDArray[Any],
        *,
        addition: ArrayLike,
        note: str | None = None,
        author: str | None = None,
    ) -> "RegressionRules":
        """Return a rule set in which some rules add other numbers.

        Parameters
        ----------
        which : int, slice, sequence of int or mask
            The rules.
        addition : float or array-like
            What they add, one number for all of them or one each.
        note, author : str, optional
            The reason, and who made the edit, for the log.
        """
        from clausewise.rules import editing

        return editing.change_additions(self, which, addition, note, author)

    # --- Files ---

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to a JSON file; an interrupted save leaves the old file as it was."""
        from clausewise.io import json

        json.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> "RegressionRules":
        """Read a file written by `save`; raise a RuleFileError for anything else. Nothing is executed."""
        from clausewise.io import json

        return json.load_numbers(path, **({} if max_bytes is None else {"max_bytes": max_bytes}))

    # --- Exports, all of which add up exactly as `predict` does ---

    def to_sql(
        self, table: str | Sequence[str], dialect: "DialectName" = "sqlite", *, prediction: str = "prediction"
    ) -> str:
        """Return a query that adds a prediction to each row of a table.

        The table needs a column for each feature that is used, by name. NULL and NaN are missing. Names of
        further columns must not begin with `clausewise_`, which the column with the sum of the rules does.
        With the link "log", the database needs the function EXP, which SQLite may lack, and which PostgreSQL
        refuses where the result is too large or too small for a double.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table, or its parts, such as `("schema", "table")`.
        dialect : {"sqlite", "postgresql", "duckdb", "bigquery"}
            The database to write for.
        prediction : str
            Name of the last column.

        Returns
        -------
        str
            A SELECT without a semicolon.
        """
        from clausewise.export import sum_to_sql

        return sum_to_sql(self, table, dialect, prediction)

    def to_python(self) -> str:
        """Return a Python module with `predict(row)` and `predict_many(rows)`.

        It imports nothing, or `exp` from `math` with the link "log". A row is a mapping from names to values,
        or a sequence of values; None and NaN are missing.
        """
        from clausewise.export import sum_to_python

        return sum_to_python(self)

    def to_pmml(self) -> str:
        """Return the rules as a PMML 4.4 document with a RegressionModel.

        The sum is computed in derived fields with a fixed order of additions. Engines must receive missing
        values as missing, not as NaN.
        """
        from clausewise.export import sum_to_pmml

        return sum_to_pmml(self)

    def to_onnx(self) -> Any:
        """Return the rules as an ONNX model with the output `prediction`: doubles of shape (rows,).

        Inputs are those of `RuleSet.to_onnx`. With the link "log", the last digit may differ from `predict`,
        since runtimes compute the exponential function in their own way.

        Returns
        -------
        onnx.ModelProto
            `.SerializeToString()` gives the bytes of a file.
        """
        from clausewise.export import sum_to_onnx

        return sum_to_onnx(self)

    def to_markdown(self) -> str:
        """Return the rules as a Markdown table, with a line on the base and one per linear term."""
        from clausewise.export import to_markdown

        return to_markdown(self)

    def to_latex(self, *, longtable: bool = False) -> str:
        r"""Return the rules as a LaTeX table in the style of booktabs.

        Parameters
        ----------
        longtable : bool, default False
            Write a `longtable`, which continues on the next page, instead of a `tabular`.

        Returns
        -------
        str
            Needs `\usepackage{booktabs}`, and `\usepackage{longtable}` for a long one.
        """
        from clausewise.export import to_latex

        return to_latex(self, longtable)

    def to_graphviz(self) -> str:
        """Return the rules as a tree in Graphviz's DOT language, in which rules share common first terms.

        Draw it with `dot -Tsvg`, or in a notebook with the graphviz package.
        """
        from clausewise.export import to_graphviz

        return to_graphviz(self)

    # --- Reports ---

    def validate(
        self,
        X: Any,
        network: Any,
        tolerance: float,
        *,
        confidence: float = 0.95,
        overlap: Literal["refuse", "drop", "keep"] = "refuse",
        groups: ArrayLike | None = None,
        dates: ArrayLike | str | None = None,
        title: str | None = None,
        model_name: str | None = None,
        sources: Mapping[str, str] | None = None,
        results: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> "Validation":
        """Collect what a model-risk team files about these rules: `save` writes it as a page to print.

        What the model is, which rows, the guarantee, where rules and model differ, edits and who
        made them, and versions. The page is one file without scripts.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Fresh rows, as for `guarantee`.
        network : model or array-like of shape (n_rows,)
            The network, or its numbers of these rows.
        tolerance : float
            The largest difference between rules and network that counts as agreement.
        confidence : float, default 0.95
            As for `guarantee`.
        overlap, groups, random_state, n_jobs
            As for `guarantee`.
        dates : array-like of shape (n_rows,) or str, optional
            The date of each row, or the column of `X` that has it; by default, its only column of dates.
        title, model_name : str, optional
            Heading of the page, and a name for the model.
        sources : mapping of str to str, optional
            Where things come from, such as `{"model file": "credit-2026.onnx"}`.
        results : mapping of str to object, optional
            Further results by heading; shown by their `to_html()`, or as text.

        Returns
        -------
        Validation
            `print` it, `save` it, or show it in a notebook.
        """
        from clausewise.report import validate

        return validate(
            self,
            X,
            network,
            tolerance=tolerance,
            confidence=confidence,
            overlap=overlap,
            groups=groups,
            dates=dates,
            title=title,
            model_name=model_name,
            sources=sources,
            results=results,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        target: ArrayLike | None = None,
        network: Any = None,
        *,
        title: str | None = None,
        max_rows: int | float | None = 2_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        compare: "Mapping[str, RegressionRules] | None" = None,
        labels: Mapping[Any, Any] | None = None,
    ) -> None:
        """Write one HTML file that shows the rules in any browser, from disk or by mail.

        Opening it loads nothing from anywhere. An interrupted call leaves the old file as it was; the same
        arguments give the same file.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to show the rules on. Measures and histograms are computed on all of them; a sample is
            embedded in the file, to inspect predictions and try edits in the browser. Whoever has the file
            can read these rows.
        target : array-like of shape (n_rows,), optional
            Their true numbers.
        network : model or array-like of shape (n_rows,), optional
            A network to compare the rules with, or its numbers for these rows.
        title : str, optional
            The page's heading.
        max_rows : int, float or None, default 2000
            Number (or fraction) of the rows to embed, drawn in proportion to ranges of the numbers; None for
            all.
        random_state : int, default 0
            Draws them.
        frontier : Frontier, optional
            A result of `frontier`, shown as a curve.
        compare : mapping of str to RegressionRules, optional
            Other rules for numbers, by title, to compare these with in the browser.
        labels : mapping, optional
            Names to show instead of those in the data, by column or category, such as
            `{"A11": "below 0 DM"}`. For categories of one column only, `{"status": {"A11": "below 0 DM"}}`.
            Rule files and exports keep the names in the data.
        """
        self.show(
            X,
            target,
            network,
            title=title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            compare=compare,
            labels=labels,
        ).save(path)

    def show(
        self,
        X: Any = None,
        target: ArrayLike | None = None,
        network: Any = None,
        *,
        title: str | None = None,
        max_rows: int | float | None = 2_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        compare: "Mapping[str, RegressionRules] | None" = None,
        labels: Mapping[Any, Any] | None = None,
        height: int = 720,
    ) -> "ReportView":
        """Return the report as an object that a notebook shows in an isolated frame.

        Parameters
        ----------
        X, target, network, title, max_rows, random_state, frontier, compare, labels
            As for `report`.
        height : int, default 720
            Height of the frame in pixels.
        """
        from clausewise.report import show

        return show(
            self,
            X,
            target,
            network,
            title=title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            compare=compare,
            labels=labels,
            height=height,
        )

    def explore(
        self,
        X: Any = None,
        target: ArrayLike | None = None,
        network: Any = None,
        *,
        title: str | None = None,
        port: int = 0,
        open_browser: bool = True,
        max_rows: int | float | None = 20_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        labels: Mapping[Any, Any] | None = None,
    ) -> None:
        """Show the report in a browser, backed by all rows and the network itself, until Ctrl-C.

        The page is served to this machine only, under an address with a random part that is printed. There,
        the network predicts the number of a row that is typed in, and edited rules are measured on all rows
        of `X`. `clausewise.report.Explorer` does the same without blocking, for notebooks.

        Parameters
        ----------
        X, target, network, title, random_state, frontier, labels
            As for `report`.
        port : int, default 0
            The server's port; 0 for any free port.
        open_browser : bool, default True
            Whether to open the page in the browser.
        max_rows : int, float or None, default 20000
            Number (or fraction) of the rows to embed in the page; None for all.
        """
        from clausewise.report import explore

        explore(
            self,
            X,
            target,
            network,
            title=title,
            port=port,
            open_browser=open_browser,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            labels=labels,
        )
