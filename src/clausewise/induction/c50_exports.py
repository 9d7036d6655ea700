"""Exports of a fitted `C50Classifier`: its methods hand the call to `clausewise.export`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from clausewise.base.parameters import NOTHING, check_parameters, whole
from clausewise.induction.c50_trials import CONFIDENCE_WITHOUT_RULE, C50Trial
from clausewise.rules import RuleSet

if TYPE_CHECKING:
    from clausewise.export import DialectName


class ExportedRules:
    """The exports of `C50Classifier`; all of them decide as its `predict` does."""

    trials_: tuple[C50Trial, ...]

    def to_sql(
        self,
        table: str | Sequence[str],
        dialect: "DialectName" = "sqlite",
        *,
        decision: str = "decision",
        trials: int | None = None,
    ) -> str:
        """Return a query that scores a table: its columns, intermediate ones and, last, the decision.

        Of a single rule set this is `rules_.to_sql`. Several vote in the query as they do in `predict`.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table, or its parts, such as `("schema", "table")`.
        dialect : {"sqlite", "postgresql", "duckdb", "bigquery"}
            The database to write for.
        decision : str
            Name of the last column.
        trials : int, optional
            Let only the first `trials` rule sets vote; all of them by default.
        """
        from clausewise.export import boosted_to_sql

        rule_sets = self._rule_sets(trials)
        if len(rule_sets) == 1:
            return rule_sets[0].to_sql(table, dialect, decision=decision)
        return boosted_to_sql(rule_sets, CONFIDENCE_WITHOUT_RULE, table, dialect, decision)

    def to_python(self, *, trials: int | None = None) -> str:
        """Return a Python module with `predict(row)` and `predict_many(rows)` that imports nothing.

        A row is a mapping from names to values, or a sequence of values; None and NaN are missing.

        Parameters
        ----------
        trials : int, optional
            Let only the first `trials` rule sets vote; all of them by default.
        """
        from clausewise.export import boosted_to_python

        rule_sets = self._rule_sets(trials)
        if len(rule_sets) == 1:
            return rule_sets[0].to_python()
        return boosted_to_python(rule_sets, CONFIDENCE_WITHOUT_RULE)

    def to_onnx(self, *, trials: int | None = None) -> Any:
        """Return an ONNX model with the outputs `label` and `scores`; inputs as of `RuleSet.to_onnx`.

        Parameters
        ----------
        trials : int, optional
            Let only the first `trials` rule sets vote; all of them by default.

        Returns
        -------
        onnx.ModelProto
            `.SerializeToString()` gives the bytes of a file.
        """
        from clausewise.export import boosted_to_onnx

        rule_sets = self._rule_sets(trials)
        if len(rule_sets) == 1:
            return rule_sets[0].to_onnx()
        return boosted_to_onnx(rule_sets, CONFIDENCE_WITHOUT_RULE)

    def _rule_sets(self, trials: int | None) -> list[RuleSet]:
        check_is_fitted(self)
        check_parameters({"trials": whole(1) | NOTHING}, {"trials": trials})
        found = [trial.rules for trial in self.trials_[:trials] if trial.rules is not None]
        if not found:
            raise ValueError("Only rule sets can be exported, and this model has trees; fit with rules=True.")
        return found
