"""The API of a served page, in JSON: predictions of the network, and measures of edited rules on all rows."""

import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, NoReturn

from clausewise.report.request_rows import read_rows
from clausewise.report.served_rows import ServedRows
from clausewise.report.table_like import TableLike

Endpoint = Callable[[Mapping[str, Any]], dict[str, Any]]

# Error messages of frameworks may have many lines.
_MAX_MESSAGE: Final = 1_000
_LOG: Final = logging.getLogger(__name__)


class RequestError(Exception):
    """A request is refused, with an HTTP status and a reason."""

    def __init__(self, status: HTTPStatus, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class PageApi:
    """The endpoints that a served page may call.

    Parameters
    ----------
    rows : ServedRows or None
        The rows, with the network and the true answers if given.
    """

    def __init__(self, rows: ServedRows[Any] | None) -> None:
        self._rows = rows
        # A network that reads rows from which the columns are computed cannot be asked about columns.
        self._model = None if rows is None or rows.features.source is not None else rows.data.model
        self._table_like = None if rows is None else TableLike(rows.data.X, rows.features)

    @property
    def served(self) -> dict[str, Any]:
        """The ServedEntry of the payload (explorer/src/payload.ts)."""
        return {
            "api": "api/",
            "has_network": self._model is not None,
            "has_truth": self._rows is not None and self._rows.data.truth is not None,
            "n_total": 0 if self._rows is None else self._rows.data.n_rows,
        }

    def predict(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the network's predictions for `{"rows": [[value per feature, null if missing], …]}`.

        Instead of a list of values, `{"number": 17, "changes": [[position of a feature, value], …]}` is
        row 17 of the data with some values changed; the page may not have all values of a row. The answer is
        that of `ServedRows.predict`.
        """
        rows = self._rows
        if rows is None or self._model is None or self._table_like is None:
            raise RequestError(
                HTTPStatus.CONFLICT, "This page is served without a network; pass network= to explore."
            )
        raw = read_rows(_only_field(request, "rows"), rows.features, rows.data.n_rows)
        table = self._table_like.table(raw)
        try:
            return rows.predict(self._model, table)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The network cannot read these rows: {error}") from error

    def measures(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return measures on all rows, those of `ServedRows.measures`, for `{"rules": a rule file}`."""
        if self._rows is None:
            raise RequestError(HTTPStatus.CONFLICT, "This page is served without rows; pass X= to explore.")
        return self._rows.measures(json.dumps(_only_field(request, "rules")))


# --- From bytes to bytes ---


def respond(endpoint: Endpoint, body: bytes) -> bytes:
    """Return an endpoint's response to a request, both in JSON; any failure is a RequestError."""
    try:
        return json.dumps(_called(endpoint, body), allow_nan=False).encode("ascii")
    except RequestError:
        raise
    except Exception as error:
        # Details go to the log of whoever started the server, not to the client.
        _LOG.exception("A request failed.")
        raise RequestError(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            f"The request failed with {type(error).__name__}; see the log of the server.",
        ) from None


def _called(endpoint: Endpoint, body: bytes) -> dict[str, Any]:
    try:
        return endpoint(_parsed(body))
    except RecursionError:
        raise RequestError(HTTPStatus.BAD_REQUEST, "The request is nested too deeply.") from None
    except ValueError as error:
        raise RequestError(HTTPStatus.BAD_REQUEST, shortened(str(error))) from None


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_refuse_constant
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"Byte {error.start} of the request is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"The request is not JSON: {error}.") from None
    if not isinstance(parsed, dict):
        raise ValueError("The request is not a JSON object.")
    return parsed


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) != len(pairs):
        raise ValueError("The request has the same key twice in one object.")
    return entry


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; a missing value is null.")


def shortened(text: str) -> str:
    """Return a message that repeats only a limited part of the request."""
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


# --- Fields of requests and responses ---


def _only_field(request: Mapping[str, Any], name: str) -> Any:
    if set(request) != {name}:
        found = ", ".join(repr(key[:60]) for key in list(request)[:5]) or "no keys"
        raise ValueError(f'The request has {found}; expected the key "{name}" only.')
    return request[name]
