"""Malformed and oversized requests are refused with a reason, and the server keeps running."""

import json

import numpy as np
import pytest

from clausewise.io.json import dumps, loads
from clausewise.report import Explorer
from tests.report.serve.client import MEASURES, PREDICT, head, refusal, send, send_bytes, status_of


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", ""],
)
def test_other_types_of_content_are_refused(explorer, kind):
    answer = send(explorer, PREDICT, '{"rows": [[1, "cook", true, 1]]}', headers={"Content-Type": kind})
    assert refusal(answer) == (415, "Send Content-Type: application/json.")


def test_json_may_name_its_encoding(explorer):
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert send(explorer, PREDICT, '{"rows": [[1, "cook", true, 1]]}', headers=headers)[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"[]",
        b"3",
        b"{}",
        b'{"rows": [[NaN, "cook", true, 1]]}',
        b'{"rows": [[Infinity, "cook", true, 1]]}',
        b'{"rows": [], "rows": [[1, "cook", true, 1]]}',
        b'{"rows": [[1, "cook", true, 1]], "more": 1}',
        b"\xff\xfe{\x00}\x00",
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94.",
        b"[" * 100_000,
        b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"rows": [[' + b"9" * 10_000 + b', "cook", true, 1]]}',
    ],
)
@pytest.mark.parametrize("path", [PREDICT, MEASURES])
def test_bodies_that_are_not_requests_are_refused(explorer, path, body):
    assert refusal(send(explorer, path, body))[0] == 400


def test_numbers_that_are_not_json_are_named(explorer):
    reason = refusal(send(explorer, PREDICT, '{"rows": [[NaN, "cook", true, 1]]}'))[1]
    assert reason == "NaN is not JSON; a missing value is null."


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[1, "cook", True]], "rows[0] has 3 values; expected 4, one per feature."),
        ([[1, 2, True, 1]], "rows[0] has 2 for 'job'; expected text, or null if it is missing."),
        (
            [[1, "astronaut", True, 1]],
            "The network cannot read these rows: Found unknown categories ['astronaut'] in column 0 during "
            "transform",
        ),
        (
            [[None, "cook", True, 1]],
            "The network cannot read these rows: ",
        ),
    ],
)
def test_rows_that_the_network_cannot_read_are_refused_with_the_reason(explorer, rows, reason):
    status, given = refusal(send(explorer, PREDICT, json.dumps({"rows": rows})))
    assert status == 400
    assert given.startswith(reason)


def test_invalid_rules_are_refused_with_the_reason(explorer, rules, people):
    entry = json.loads(dumps(rules))
    assert refusal(send(explorer, MEASURES, '{"rules": 3}'))[1].startswith("rules: this is not a rule file;")
    broken = {**entry, "rules": [{**entry["rules"][0], "then": "perhaps"}]}
    status, reason = refusal(send(explorer, MEASURES, json.dumps({"rules": broken})))
    assert (status, reason) == (400, 'rules: rules[0].then is "perhaps", which is not one of the classes.')
    features = [{**feature, "name": f"{feature['name']} x"} for feature in entry["features"]]
    renamed = json.dumps({**entry, "features": features, "rules": []})
    with pytest.raises(ValueError, match="'age x'") as expected:
        loads(renamed).features.encode(people[0])
    status, reason = refusal(send(explorer, MEASURES, f'{{"rules": {renamed}}}'))
    assert (status, reason) == (400, str(expected.value))


def test_requests_above_the_limit_are_refused_before_they_are_read(numbers):
    with Explorer(numbers, [[1.0]], ["a"], max_bytes=1_000) as explorer:
        fits = b'{"rules": 1}'.ljust(1_000)
        assert refusal(send(explorer, MEASURES, fits))[0] == 400
        status, reason = refusal(send(explorer, MEASURES, fits + b" "))
        assert status == 413
        assert reason == "The request has 1,001 bytes; at most 1,000 are allowed."
        # Announced but never sent: the server does not wait for it.
        lines = ("Content-Type: application/json", "Content-Length: 99999999999999999")
        assert status_of(send_bytes(explorer, head(explorer, MEASURES, *lines), end=True)) == 413


def test_a_large_upload_gets_a_response(explorer):
    status, reason = refusal(send(explorer, PREDICT, b" " * (17 * 2**20)))
    assert status == 413
    assert "16,777,216" in reason


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ((), 411),
        (("Transfer-Encoding: chunked",), 411),
        (("Transfer-Encoding: chunked", "Content-Length: 12"), 411),
        (("Content-Length: -1",), 400),
        (("Content-Length: +12",), 400),
        (("Content-Length: 1_2",), 400),
        (("Content-Length: 0x0c",), 400),
        (("Content-Length: 1e1",), 400),
        (("Content-Length: ",), 400),
        (("Content-Length: 9999999999999999999999",), 400),
        (("Content-Length: 12", "Content-Length: 12"), 400),
        (("Content-Length: 12, 12",), 400),
        (("Content-Length: 500",), 400),
        (("Content-Length: 3",), 400),
    ],
)
def test_sizes_that_are_missing_or_wrong_are_refused(explorer, lines, status):
    request = head(explorer, MEASURES, "Content-Type: application/json", *lines) + b'{"rules": 1}'
    answer = send_bytes(explorer, request, end=True)
    assert status_of(answer) == status
    assert list(json.loads(answer.partition(b"\r\n\r\n")[2])) == ["error"]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET", 400),
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 400),  # the start of a TLS handshake
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"GET / HTTP/x\r\n\r\n", 400),
        (b"BREW / HTTP/1.1\r\n\r\n", 501),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 500 + b"\r\n", 431),
    ],
)
def test_malformed_http_is_refused(explorer, data, status):
    answer = send_bytes(explorer, data, end=True)
    assert status_of(answer) == status
    assert list(json.loads(answer.partition(b"\r\n\r\n")[2])) == ["error"]
    assert b"<html" not in answer.lower()


@pytest.mark.parametrize("data", [b"", b"\r\n"])
def test_an_empty_request_gets_no_response(explorer, data):
    assert send_bytes(explorer, data, end=True) == b""


@pytest.mark.parametrize("seed", range(30))
def test_random_bytes_do_not_stop_the_server(explorer, seed):
    rng = np.random.default_rng(seed)
    request = bytearray(
        head(explorer, PREDICT, "Content-Type: application/json", "Content-Length: 33")
        + b'{"rows": [[1, "cook", true, 1]]} '
    )
    for place in rng.integers(0, len(request), int(rng.integers(1, 12))):
        request[place] = rng.integers(256)
    answer = send_bytes(explorer, bytes(request), end=True)
    assert b"Traceback" not in answer
    assert send(explorer, "", method="HEAD")[0] == 200
