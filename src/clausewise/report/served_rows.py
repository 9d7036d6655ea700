"""The rows behind a served page: what the network predicts, and how edited rules do on all of them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.labels import Label, Labels, plain_label
from clausewise.io.json import loads, loads_numbers
from clausewise.networks.answers import model_rows, one_number
from clausewise.networks.network import Network
from clausewise.report.number_payload import NumberReportData, measures_entry
from clausewise.report.payload import ReportData
from clausewise.rules import RuleSet

_Data = TypeVar("_Data", bound=ReportData | NumberReportData)


@dataclass(frozen=True)
class ServedRows(ABC, Generic[_Data]):
    """What `PageApi` asks the rows of a page: a class per kind of rules."""

    data: _Data

    @property
    def features(self) -> Features:
        """The features of the page's rules."""
        return self.data.rules.features

    @abstractmethod
    def predict(self, model: Network, table: Any) -> dict[str, Any]:
        """Return what the network predicts for other rows, ready for JSON."""

    @abstractmethod
    def measures(self, rule_file: str) -> dict[str, Any]:
        """Return measures of the rules in a rule file on all rows, ready for JSON."""

    def columns_for(self, features: Features) -> Any:
        """Return the rows for rules with these features, which may be listed in another order."""
        return self.data.X if features == self.features else self.features.columns(self.data.X)


class ServedClasses(ServedRows[ReportData]):
    """Rows with classes."""

    def predict(self, model: Network, table: Any) -> dict[str, Any]:
        """Return `labels`, one per row, `classes`, and `probabilities`, one list per row in their order."""
        run = model.run(table, hidden=False)
        assert run.probabilities is not None
        classes = [plain_label(label) for label in model.classes.tolist()]
        return {
            "labels": [classes[code] for code in run.codes],
            "probabilities": run.probabilities.tolist(),
            "classes": classes,
        }

    def measures(self, rule_file: str) -> dict[str, Any]:
        """Return `n_rows` and `coverage`; `fidelity` and `accuracy`, None without what they need."""
        data, rules = self.data, loads(rule_file, source="rules")
        is_same = rules.features == self.features
        matrix = data.matrix if is_same else rules.features.encode(self.columns_for(rules.features))
        decisions = rules.evaluator.decide(matrix, rules.voting, rules.default_index)
        return {
            "n_rows": data.n_rows,
            "fidelity": _agreement(rules, decisions, None if data.answers is None else data.answers.labels),
            "accuracy": _agreement(rules, decisions, data.truth),
            "coverage": float(np.mean(~rules.evaluator.uncovered(matrix))),
        }


class ServedNumbers(ServedRows[NumberReportData]):
    """Rows with numbers."""

    def predict(self, model: Network, table: Any) -> dict[str, Any]:
        """Return `numbers`, one per row."""
        found = one_number(model.numbers(model_rows(model, table, self.features)))
        if not np.isfinite(found).all():
            raise ValueError("it returns a number that is not finite.")
        return {"numbers": found.tolist()}

    def measures(self, rule_file: str) -> dict[str, Any]:
        """Return the measures of the report (NumberMeasuresEntry) for these rules."""
        data, rules = self.data, loads_numbers(rule_file, source="rules")
        return measures_entry(rules, self.columns_for(rules.features), data.truth, data.answers)


def _agreement(rules: RuleSet, decisions: NDArray[np.int32], labels: Labels | None) -> float | None:
    """Return the fraction of rows whose label the rules predict; edited rules may have other classes."""
    if labels is None:
        return None
    code_of = {_identity(label): code for code, label in enumerate(labels.labels)}
    codes = np.array([code_of.get(_identity(label), -1) for label in rules.outcomes.tolist()], dtype=np.int64)
    return float(np.mean(codes[decisions] == labels.codes))


def _identity(label: Label) -> tuple[bool, Label]:
    """Return a key under which, unlike in Python, True and 1 differ."""
    return isinstance(label, bool), label
