"""What a served page may ask: the network about rows, and all rows about edited rules. JSON in, JSON out."""

import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import Label, Labels, plain_label
from clausewise.io.json import loads
from clausewise.report.payload import ReportData
from clausewise.report.raw_rows import TableLike, read_rows
from clausewise.rules.ruleset import RuleSet

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]

# Frameworks write messages of many lines.
_MAX_MESSAGE: Final = 1_000
_LOG: Final = logging.getLogger(__name__)


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

        In place of such a list, `{"number": 17, "changes": [[place of a feature, value], …]}` is row 17 of
        the data with other values: the page need not hold all that is in a row.

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
        raw = read_rows(_only_field(request, "rows"), self._data.rules.features, self._data.n_rows)
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


# --- From bytes to bytes ---


def reply(answer: Answer, body: bytes) -> bytes:
    """The JSON of an answer to a request in JSON; whatever goes wrong is a RequestError."""
    try:
        found = _answered(answer, body)
        return json.dumps(found, allow_nan=False).encode("ascii")
    except RequestError:
        raise
    except Exception as error:
        # The reason is for whoever started the server; the client learns that there is one.
        _LOG.exception("A request could not be answered.")
        raise RequestError(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            f"This failed with {type(error).__name__}; the terminal that the server runs in says more.",
        ) from None


def _answered(answer: Answer, body: bytes) -> dict[str, Any]:
    try:
        return answer(_parsed(body))
    except RecursionError:
        raise RequestError(HTTPStatus.BAD_REQUEST, "The request is nested too deep.") from None
    except ValueError as error:
        raise RequestError(HTTPStatus.BAD_REQUEST, shortened(str(error))) from None


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"Byte {error.start} of the request is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"The request is no JSON: {error}.") from None
    if not isinstance(parsed, dict):
        raise ValueError("The request is JSON, but no object.")
    return parsed


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) != len(pairs):
        raise ValueError("The request has a key twice in one object.")
    return entry


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; a missing value is null.")


def shortened(text: str) -> str:
    """A message that repeats only so much of what was sent."""
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


# --- Parts of answers ---


def _only_field(request: Mapping[str, Any], name: str) -> Any:
    if set(request) != {name}:
        found = ", ".join(repr(key[:60]) for key in list(request)[:5]) or "no key at all"
        raise ValueError(f'The request has {found}; expected the key "{name}" alone.')
    return request[name]


def _agreement(rules: RuleSet, decisions: NDArray[np.int32], labels: Labels | None) -> float | None:
    """Part of the rows whose label the rules conclude; other rules may know other classes."""
    if labels is None:
        return None
    place_of = {_identity(label): code for code, label in enumerate((*labels.classes, *labels.unknown))}
    codes = np.array([place_of.get(_identity(label), -1) for label in rules.labels], dtype=np.int64)
    return float(np.mean(codes[decisions] == labels.codes))


def _identity(label: Label) -> tuple[bool, Label]:
    """True is not 1 here, though Python thinks so."""
    return isinstance(label, bool), label
