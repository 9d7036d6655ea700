"""What a served page may ask: the network about rows, and all rows about edited rules. No HTTP in here."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.io.json import loads
from clausewise.report.labels import Labels
from clausewise.report.payload import ReportData
from clausewise.report.raw_rows import TableLike, read_rows
from clausewise.rules.rule import Label, plain_label
from clausewise.rules.ruleset import RuleSet

# Frameworks write messages of many lines.
_MAX_MESSAGE = 1_000


class RequestError(Exception):
    """A request that is not answered, with the HTTP status and the reason."""

    def __init__(self, status: HTTPStatus, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class Answers:
    """The answers to the requests of a page.

    Parameters
    ----------
    data : ReportData or None
        The rows, with their labels and the network, as far as they were given.
    """

    def __init__(self, data: ReportData | None) -> None:
        self._data = data
        self._network = None if data is None or data.answers is None else data.answers.network
        self._like = None if data is None else TableLike(data.X, data.rules.features)

    @property
    def served(self) -> dict[str, Any]:
        """What the page is told: ServedEntry of explorer/src/payload.ts."""
        return {
            "api": "api/",
            "has_network": self._network is not None,
            "has_truth": self._data is not None and self._data.truth is not None,
            "n_total": 0 if self._data is None else self._data.n_rows,
        }

    def predict(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the network says about rows: `{"rows": [[value per feature, null where missing], …]}`.

        Returns
        -------
        dict
            `labels`, one per row; `classes`, those of the network; `probabilities`, one list per row in the
            order of these classes.
        """
        if self._data is None or self._network is None or self._like is None:
            raise RequestError(
                HTTPStatus.CONFLICT, "There is no network behind this page; pass network= to explore."
            )
        raw = read_rows(_only_field(request, "rows"), self._data.rules.features)
        table = self._like.table(raw)
        try:
            labels = self._network.labels(table)
            probabilities = self._network.probabilities(table)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The network refuses these rows: {error}") from error
        return {
            "labels": [plain_label(label) for label in labels.tolist()],
            "probabilities": probabilities.tolist(),
            "classes": [plain_label(label) for label in self._network.classes.tolist()],
        }

    def measures(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """How good rules are on all rows: `{"rules": the content of a rule file}`.

        Returns
        -------
        dict
            `n_rows`, `coverage`, and `fidelity` and `accuracy`, which are None without a network or truth.
        """
        data = self._data
        if data is None:
            raise RequestError(HTTPStatus.CONFLICT, "There are no rows behind this page; pass X= to explore.")
        rules = loads(json.dumps(_only_field(request, "rules")), source="rules")
        same_columns = rules.features == data.rules.features
        matrix = data.matrix if same_columns else rules.features.encode(data.X)
        decisions = rules.evaluator.decide(matrix, rules.voting, rules.default_index)
        return {
            "n_rows": data.n_rows,
            "fidelity": _agreement(rules, decisions, None if data.answers is None else data.answers.labels),
            "accuracy": _agreement(rules, decisions, data.truth),
            "coverage": float(np.mean(~rules.evaluator.uncovered(matrix))),
        }


def short_message(error: Exception) -> str:
    """What an error says, short enough to be shown."""
    text = str(error)
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


def _only_field(request: Mapping[str, Any], name: str) -> Any:
    if set(request) != {name}:
        found = ", ".join(repr(key[:60]) for key in list(request)[:5]) or "no key at all"
        raise ValueError(f'The request has {found}; expected the key "{name}" alone.')
    return request[name]


def _agreement(rules: RuleSet, decisions: NDArray[np.int32], labels: Labels | None) -> float | None:
    """Part of the rows whose label the rules conclude; other rules may know other classes."""
    if labels is None:
        return None
    place_of = {_identity(label): code for code, label in enumerate((*labels.classes, *labels.extra))}
    codes = np.array([place_of.get(_identity(label), -1) for label in rules.labels], dtype=np.int64)
    return float(np.mean(codes[decisions] == labels.codes))


def _identity(label: Label) -> tuple[bool, Label]:
    """True is not 1 here, though Python thinks so."""
    return isinstance(label, bool), label
