"""HTTP requests to a served page, sent over a real connection."""

import json
import logging
import socket
import warnings
from functools import cache

import numpy as np
from hypothesis import strategies as st
from sklearn.neural_network import MLPClassifier

from clausewise import RuleSet, wrap
from clausewise.io import json as rule_json
from clausewise.report import Explorer
from tests.fuzz.mutation import TEXTS, changed_json
from tests.fuzz.recording import unwatched

# Placeholders for values that differ in every run.
TOKEN, PORT = b"@token@", b"@port@"
WORDS = [
    *(
        b"GET ",
        b"POST ",
        b"HEAD ",
        b"TRACE ",
        b"PRI * HTTP/2.0\r\n",
        b" HTTP/1.1\r\n",
        b" HTTP/9.9\r\n",
        b"\r\n",
    ),
    *(b"Host: evil.example\r\n", b"Origin: null\r\n", b"Content-Length: -1\r\n", b"Content-Length: 9\r\n"),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Upgrade: h2c\r\n",
        b"X: " + b"y" * 70_000,
    ),
    *(b"/../../etc/passwd", b"%2e%2e/", b"%00", b"\x00", b"\xff", b"?x=1", b"//", TOKEN, PORT),
    *(b"api/predict", b"api/measures", b'{"rows": [[1]]}', b"[" * 2000),
]


class RefusedError(Exception):
    """The server refused a request, with a reason."""


class _Failures(logging.Handler):
    """Collects the errors that the server logs."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.found = []

    def emit(self, record):
        self.found.append(record.getMessage() + "\n" + logging.Formatter().formatException(record.exc_info))


@cache
def _served():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that training has not converged
        model = MLPClassifier((3,), max_iter=5, random_state=0).fit(X, X[:, 0] > 0)
    explorer = Explorer(_rules(), X, X[:, 0] > 0, wrap(model), timeout=10).start()
    failures = _Failures()
    logging.getLogger("clausewise.report").addHandler(failures)
    _, _, address, token, _ = explorer.url.split("/")
    return explorer, address.split(":")[1], token, failures


def _rules():
    return RuleSet.from_text("IF a <= 0.5 THEN TRUE", ["a", "b"], classes=[False, True], default=False)


def ask(data):
    """Send a request; return status, head and body of the response, or raise RefusedError."""
    with unwatched():
        _, port, token, failures = _served()
        connection = socket.create_connection(("127.0.0.1", int(port)), timeout=20)
    failures.found.clear()
    answer, was_cut = b"", False
    with connection:
        try:
            connection.sendall(data.replace(TOKEN, token.encode()).replace(PORT, port.encode()))
            connection.shutdown(socket.SHUT_WR)
        except TimeoutError:
            raise
        except OSError:  # the server closed the connection; its response may still be readable
            was_cut = True
        try:
            while part := connection.recv(2**16):
                answer += part
        except ConnectionError:
            was_cut = True
    if failures.found:
        raise AssertionError(failures.found[0])
    first_line = data.split(b"\n")[0].decode("latin-1")  # as the server reads it, with more kinds of space
    if not answer:
        if first_line.split() and not was_cut:
            raise AssertionError("no response")
        raise RefusedError("the request is empty")
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split(b" ")[1])
    assert head.startswith(b"HTTP/1.0 ")
    assert status in (200, 303, 501, 505) or 400 <= status < 500, head
    if status >= 400:
        raise RefusedError(json.loads(body)["error"] if body else f"status {status} to HEAD")
    return status, head, body


def check(answer):
    """Check that a response is the page, predictions or measures."""
    status, head, body = answer
    assert status == 200
    assert b"nosniff" in head
    if b"application/json" in head:
        assert set(json.loads(body)) in (
            {"labels", "probabilities", "classes"},
            {"n_rows", "fidelity", "accuracy", "coverage"},
        )
    else:
        assert not body or body.startswith(b"<!")


def request(path, body, method=b"POST"):
    """Return a request as the page sends it."""
    head = [
        b"%s /%s/%s HTTP/1.1" % (method, TOKEN, path),
        b"Host: 127.0.0.1:%s" % PORT,
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
    ]
    return b"\r\n".join([*head, b"", body])


@cache
def examples():
    """Return requests that the page sends."""
    rules = json.loads(rule_json.dumps(_rules()))
    return [
        request(b"api/predict", json.dumps({"rows": [[0.5, 1], [3, -2]]}).encode()),
        request(b"api/measures", json.dumps({"rules": rules}).encode()),
        request(b"", b"", b"HEAD"),
    ]


def changed(data, rng):
    """Return a request with changed JSON as its body and the correct length; None if it has no JSON."""
    head, _, body = data.partition(b"\r\n\r\n")
    other = changed_json(body, rng)
    if other is None:
        return None
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(other), b"", other])


def strategy():
    """Return a strategy for any JSON as a body, and any words as a head."""
    value = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(TEXTS),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["rows", "x"]), inner),
        max_leaves=6,
    )
    rows = st.lists(st.lists(value, min_size=1, max_size=3), max_size=3)
    body = (rows.map(lambda rows: {"rows": rows}) | value).map(lambda value: json.dumps(value).encode())
    asked = st.builds(request, st.sampled_from([b"api/predict", b"api/measures", b"", b"x"]), body)
    words = st.lists(st.sampled_from(WORDS) | st.binary(max_size=5), max_size=6).map(b"".join)
    return asked | words
