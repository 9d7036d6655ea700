"""The served page: it answers its own page truly, and nobody else at all."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
import webbrowser
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from clausewise import Features, Rule, RuleSet, Term, wrap
from clausewise.io.json import dumps
from clausewise.networks import CallableNetwork
from clausewise.report.serve import Explorer
from tests.report.conftest import WIDE, check_accessibility
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw

PREDICT, MEASURES = "api/predict", "api/measures"
AGE, JOB, VISITS = 0, 1, 3  # places of the columns of `people`


# --- What is served ---


@pytest.fixture(scope="module")
def people():
    """A table with all kinds of columns, its labels, and a network that reads the columns by name."""
    rng = np.random.default_rng(0)
    n_rows = 300
    X = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n_rows).round(1),
            "job": rng.choice(["cook", "nurse", "pilot"], n_rows),
            "smokes": rng.random(n_rows) < 0.4,
            "visits": rng.integers(0, 9, n_rows),
        }
    )
    y = np.where((X["age"] > 47) ^ (X["job"] == "nurse"), "yes", "no")
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), ["visits", "age"]), ("job", OneHotEncoder(), ["job"])],
        remainder="passthrough",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not be a good network
        model = make_pipeline(columns, MLPClassifier((5,), max_iter=60, random_state=0)).fit(X, y)
    return X, y, wrap(model)


@pytest.fixture(scope="module")
def rules(people):
    features = Features.learn(people[0])
    listed = [
        Rule((Term(AGE, low=47), Term(JOB, values=("cook", "pilot"))), "yes", confidence=0.9),
        Rule((Term(AGE, high=47),), "no", confidence=0.8),
        Rule((Term(JOB, values=("nurse",)), Term(VISITS, high=4)), "yes", confidence=0.7),
    ]
    return RuleSet.from_rules(listed, features, default="no", classes=["no", "yes"])


@pytest.fixture(scope="module")
def explorer(rules, people):
    with Explorer(rules, *people, max_rows=50, title="People") as started:
        yield started


@pytest.fixture(scope="module")
def numbers():
    """Rules over one number, for servers that are about something else."""
    rule = Rule((Term(0, low=0),), "b", confidence=0.9)
    return RuleSet.from_rules([rule], ["x"], default="a", classes=["a", "b"])


# --- Requests ---


def own_headers(explorer):
    return {"Host": urlsplit(explorer.url).netloc, "Content-Type": "application/json"}


def send(explorer, path, body=None, *, method=None, headers=None):
    """Status, headers and content of the answer; `path` is behind the token unless it begins with a slash."""
    address = urlsplit(explorer.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    try:
        connection.request(
            method or ("GET" if body is None else "POST"),
            path if path.startswith("/") else address.path + path,
            body,
            {**own_headers(explorer), **(headers or {})},
        )
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def ask(explorer, path, request):
    status, headers, content = send(explorer, path, json.dumps(request))
    assert headers["Content-Type"] == "application/json"
    return status, json.loads(content)


def refusal(answer):
    """Status and reason of an answer, which must be one that refuses, in JSON, without a traceback."""
    status, headers, content = answer
    assert status >= 400
    assert headers["Content-Type"] == "application/json"
    entry = json.loads(content)
    assert list(entry) == ["error"]
    assert "Traceback" not in entry["error"]
    assert 'File "' not in entry["error"]
    return status, entry["error"]


def connect(explorer, timeout=20):
    address = urlsplit(explorer.url)
    return socket.create_connection((address.hostname, address.port), timeout)


def send_bytes(explorer, data, *, end=False):
    """Everything that the server sends back; `end` tells it that no more will come."""
    with connect(explorer) as connection:
        connection.sendall(data)
        if end:
            connection.shutdown(socket.SHUT_WR)
        return read_all(connection)


def read_all(connection):
    parts = []
    while part := connection.recv(2**16):
        parts.append(part)
    return b"".join(parts)


def head(explorer, path, *lines, method="POST"):
    """The head of a request to our own server, with these lines."""
    address = urlsplit(explorer.url)
    start = [f"{method} {address.path}{path} HTTP/1.1", f"Host: {address.netloc}"]
    return "\r\n".join([*start, *lines, "", ""]).encode()


def status_of(answer):
    return int(re.match(rb"HTTP/1\.0 (\d{3}) ", answer)[1])


# --- The page ---


def test_the_page_is_the_report_and_says_what_may_be_asked(explorer, people):
    status, headers, content = send(explorer, "")
    payload = json.loads(re.search(r'id="clausewise-payload">(.*?)</script>', content.decode(), re.DOTALL)[1])
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert payload["title"] == "People"
    assert payload["served"] == {"api": "api/", "has_network": True, "has_truth": True, "n_total": 300}
    assert (payload["rows"]["n_shown"], payload["rows"]["n_total"]) == (50, 300)


@pytest.mark.parametrize(("path", "body"), [("", None), (PREDICT, "{}"), ("nothing", None)])
def test_every_answer_is_kept_to_itself(explorer, path, body):
    headers = send(explorer, path, body)[1]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Server"] == "clausewise"
    assert "Access-Control-Allow-Origin" not in headers


def test_the_page_may_ask_its_own_server_only(explorer):
    policy = send(explorer, "")[1]["Content-Security-Policy"]
    assert re.findall(r"connect-src ([^;]*)", policy) == ["'self'"]
    assert "unsafe" not in policy


def test_the_head_of_the_page_comes_without_its_body(explorer):
    status, headers, content = send(explorer, "", method="HEAD")
    assert (status, content) == (200, b"")
    assert int(headers["Content-Length"]) == len(send(explorer, "")[2])


def test_each_start_has_another_token(numbers):
    explorer = Explorer(numbers)
    with explorer:
        first = urlsplit(explorer.url).path
    with explorer:
        assert urlsplit(explorer.url).path != first
    assert re.fullmatch(r"/[\w-]{43}/", first)


def test_only_this_machine_is_listened_to(explorer):
    assert urlsplit(explorer.url).hostname == "127.0.0.1"
    assert explorer._server.socket.getsockname()[0] == "127.0.0.1"


# --- Answers ---


def test_the_network_answers_as_in_python(explorer, people):
    X, _, network = people
    chosen = X.iloc[:40]
    status, found = ask(explorer, PREDICT, {"rows": chosen.to_numpy(dtype=object).tolist()})
    assert status == 200
    assert found["classes"] == ["no", "yes"]
    assert found["labels"] == network.labels(chosen).tolist()
    assert found["probabilities"] == network.probabilities(chosen).tolist()
    assert {"no", "yes"} == set(found["labels"])


def test_the_network_is_asked_about_values_that_the_data_does_not_have(explorer, people):
    network = people[2]
    found = ask(explorer, PREDICT, {"rows": [[51.25, "cook", 1, 2.5]]})[1]
    row = pd.DataFrame({"age": [51.25], "job": ["cook"], "smokes": [True], "visits": [2.5]})
    assert found["probabilities"] == network.probabilities(row).tolist()


def test_the_network_is_asked_about_a_row_of_the_data_with_changes(explorer, people):
    X, _, network = people
    asked = [{"number": 7, "changes": []}, {"number": 7, "changes": [[AGE, 80.5], [JOB, "pilot"]]}]
    found = ask(explorer, PREDICT, {"rows": asked})[1]
    rows = pd.concat([X.iloc[[7]], X.iloc[[7]].assign(age=80.5, job="pilot")])
    assert found["probabilities"] == network.probabilities(rows).tolist()


def test_a_torch_network_answers_from_the_threads_of_the_server_as_in_python():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    network = wrap(model)
    labels = network.labels(X)
    rules = RuleSet.from_rules([], ["x", "y"], default=int(labels[0]), classes=[0, 1, 2])
    with Explorer(rules, X, network=network) as explorer:
        found = ask(explorer, PREDICT, {"rows": X.tolist()})[1]
    assert found["labels"] == labels.tolist()
    assert found["probabilities"] == network.probabilities(X).tolist()
    assert found["classes"] == [0, 1, 2]


def test_the_same_question_has_the_same_answer(explorer):
    request = json.dumps({"rows": [[51.25, "cook", True, 2]]})
    assert len({send(explorer, PREDICT, request)[2] for _ in range(5)}) == 1


def test_rules_are_measured_on_all_rows_as_in_python(explorer, rules, people):
    X, y, network = people
    edited = rules[[0, 2]].with_voting("majority").with_default("yes")
    status, found = ask(explorer, MEASURES, {"rules": json.loads(dumps(edited))})
    expected = edited.evaluate(X, y, network=network.labels(X))
    assert status == 200
    assert found == {
        "n_rows": len(X),
        "fidelity": expected.fidelity,
        "accuracy": expected.accuracy,
        "coverage": expected.coverage,
    }
    assert 0 < found["coverage"] < 1


@pytest.mark.parametrize("seed", range(6))
def test_random_rules_are_measured_as_in_python(seed):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 5)
    X = raw(features, random_table(rng, features, 400).encoded())
    rules = random_ruleset(rng, features, 20)
    y = rng.choice(rules.labels, 400)
    with Explorer(rules, X, y, network=rules.predict(X)) as explorer:
        for voting in ("confidence", "majority", "share", "weights"):
            edited = random_ruleset(rng, features, 15, voting=voting)
            found = ask(explorer, MEASURES, {"rules": json.loads(dumps(edited))})[1]
            expected = edited.evaluate(X, y, network=rules.predict(X))
            assert found["fidelity"] == expected.fidelity
            assert found["accuracy"] == expected.accuracy
            assert found["coverage"] == expected.coverage


def test_rules_over_the_same_columns_in_another_order_are_measured_too(explorer, rules, people):
    X, y, network = people
    features = Features.learn(X[["job", "visits", "smokes", "age"]])
    other = RuleSet.from_rules(
        [Rule((Term(3, low=47),), "yes", confidence=0.9)], features, default="no", classes=["yes", "no"]
    )
    found = ask(explorer, MEASURES, {"rules": json.loads(dumps(other))})[1]
    expected = other.evaluate(X, y, network=network.labels(X))
    assert (found["fidelity"], found["accuracy"]) == (expected.fidelity, expected.accuracy)


def test_rules_with_other_classes_are_right_where_they_say_the_same():
    X, y = np.array([[-1.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 0])
    two = RuleSet.from_rules([Rule((Term(0, low=0),), 1)], ["x"], default=0, classes=[0, 1])
    three = RuleSet.from_rules([Rule((Term(0, low=0),), 1)], ["x"], default=7, classes=[1, 5, 7])
    with Explorer(two, X, y) as explorer:
        found = ask(explorer, MEASURES, {"rules": json.loads(dumps(three))})[1]
    assert found == {"n_rows": 4, "fidelity": None, "accuracy": 0.5, "coverage": 0.75}


def test_without_data_there_is_only_the_page(numbers):
    with Explorer(numbers) as explorer:
        content = send(explorer, "")[2]
        assert b'"served":{"api":"api/","has_network":false,"has_truth":false,"n_total":0}' in content
        status, reason = refusal(send(explorer, PREDICT, '{"rows": [[1]]}'))
        assert (status, reason[:20]) == (409, "There is no network ")
        status, reason = refusal(send(explorer, MEASURES, "{}"))
        assert (status, reason[:18]) == (409, "There are no rows ")


def test_labels_of_a_network_are_measured_against_but_answer_nothing(numbers):
    with Explorer(numbers, [[-1.0], [1.0]], network=["a", "a"]) as explorer:
        found = ask(explorer, MEASURES, {"rules": json.loads(dumps(numbers))})[1]
        assert found == {"n_rows": 2, "fidelity": 0.5, "accuracy": None, "coverage": 0.5}
        assert refusal(send(explorer, PREDICT, '{"rows": [[1]]}'))[0] == 409


def test_a_network_without_rows_is_refused(numbers):
    with pytest.raises(ValueError, match="pass these as X"):
        Explorer(numbers, network=lambda rows: rows)


# --- Who is refused ---


@pytest.mark.parametrize(
    "change",
    [
        lambda token: "",
        lambda token: token[:-1],
        lambda token: token + "A",
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
        lambda token: token.swapcase(),
        lambda token: "%" + token.encode().hex("%"),
        lambda token: "\u00e9" * 43,
    ],
)
@pytest.mark.parametrize("path", ["", PREDICT, "nothing"])
def test_a_wrong_token_finds_nothing(explorer, change, path):
    token = urlsplit(explorer.url).path.strip("/")
    target = f"GET /{change(token)}/{path} HTTP/1.1\r\nHost: {urlsplit(explorer.url).netloc}\r\n\r\n"
    answer = send_bytes(explorer, target.encode("latin-1"))
    assert status_of(answer) == 404
    assert token.encode() not in answer


@pytest.mark.parametrize("path", ["/", "/api/predict", "/favicon.ico", "//", "/?token="])
def test_a_missing_token_finds_nothing(explorer, path):
    assert refusal(send(explorer, path)) == (404, "There is nothing at this address.")


def test_the_token_alone_and_the_token_in_front_of_nothing_find_nothing(explorer):
    path = urlsplit(explorer.url).path
    own = urlsplit(explorer.url)
    assert refusal(send(explorer, path.rstrip("/")))[0] == 404
    for target in (path[1:], "x" + path, f"http://{own.netloc}{path}"):
        request = f"GET {target} HTTP/1.1\r\nHost: {own.netloc}\r\n\r\n"
        assert status_of(send_bytes(explorer, request.encode())) == 404, target


@pytest.mark.parametrize(
    "path",
    [
        "../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "assets/explorer.js",
        "api/../api/predict",
        "./",
        "/",
        "api/predict/",
        "api/Predict",
        "api/predict\x00",
        "..\\..\\windows\\win.ini",
    ],
)
def test_no_path_leads_anywhere_else(explorer, path):
    answer = send_bytes(explorer, head(explorer, path, method="GET"))
    assert status_of(answer) == 404
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", "127.0.0.1:{port}.evil.example", ""],
)
@pytest.mark.parametrize("path", ["", PREDICT])
def test_a_name_that_was_made_to_point_here_is_refused(explorer, host, path):
    named = host.format(port=urlsplit(explorer.url).port)
    body = None if path == "" else '{"rows": [[1, "cook", true, 1]]}'
    status, reason = refusal(send(explorer, path, body, headers={"Host": named}))
    assert status == 403
    assert "127.0.0.1:" in reason


def test_a_request_without_host_or_with_two_is_refused(explorer):
    path, host = urlsplit(explorer.url).path, urlsplit(explorer.url).netloc
    assert status_of(send_bytes(explorer, f"GET {path} HTTP/1.1\r\n\r\n".encode())) == 403
    twice = head(explorer, "", f"Host: {host}", method="GET")
    assert status_of(send_bytes(explorer, twice)) == 403
    oldest = send_bytes(explorer, f"GET {path}\r\n\r\n".encode())  # HTTP 0.9, which has no headers
    assert b"clausewise-payload" not in oldest


def test_the_server_is_also_called_localhost(explorer):
    host = f"localhost:{urlsplit(explorer.url).port}"
    assert send(explorer, "", headers={"Host": host, "Origin": f"http://{host}"})[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://{own}", "http://{own}.evil.example", "http://127.0.0.1", ""],
)
@pytest.mark.parametrize("path", ["", PREDICT, MEASURES])
def test_another_origin_is_refused(explorer, origin, path):
    named = origin.format(own=urlsplit(explorer.url).netloc)
    body = None if path == "" else '{"rows": [[1, "cook", true, 1]]}'
    answer = send(explorer, path, body, headers={"Origin": named})
    assert refusal(answer) == (403, "Only the page of this server may ask it.")


def test_our_own_origin_is_answered(explorer):
    origin = f"http://{urlsplit(explorer.url).netloc}"
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert send(explorer, PREDICT, '{"rows": [[1, "cook", true, 1]]}', headers=headers)[0] == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_questions_that_the_browser_says_are_not_ours_are_refused(explorer, site):
    answer = send(explorer, PREDICT, '{"rows": [[1, "cook", true, 1]]}', headers={"Sec-Fetch-Site": site})
    assert refusal(answer)[0] == 403
    # A link to the page may stand anywhere.
    assert send(explorer, "", headers={"Sec-Fetch-Site": site})[0] == 200


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("", "POST", "GET, HEAD"),
        ("", "DELETE", "GET, HEAD"),
        (PREDICT, "GET", "POST"),
        (PREDICT, "OPTIONS", "POST"),
        (MEASURES, "PUT", "POST"),
        (MEASURES, "TRACE", "POST"),
    ],
)
def test_other_methods_are_refused(explorer, path, method, allowed):
    answer = send(explorer, path, method=method)
    assert refusal(answer)[0] == 405
    assert answer[1]["Allow"] == allowed


def test_the_method_of_a_stranger_tells_nothing(explorer):
    assert refusal(send(explorer, "/wrong/api/predict", method="PUT"))[0] == 404


# --- What is refused ---


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
def test_what_is_no_request_is_refused(explorer, path, body):
    assert refusal(send(explorer, path, body))[0] == 400


def test_numbers_that_are_not_json_are_named(explorer):
    reason = refusal(send(explorer, PREDICT, '{"rows": [[NaN, "cook", true, 1]]}'))[1]
    assert reason == "NaN is not JSON; a missing value is null."


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[1, "cook", True]], "rows[0] has 3 values; expected 4, one per feature."),
        ([[1, 2, True, 1]], "rows[0] has 2 for 'job'; expected text, or null where it is missing."),
        (
            [[1, "astronaut", True, 1]],
            "The network refuses these rows: Found unknown categories ['astronaut'] in column 0 during "
            "transform",
        ),
        (
            [[None, "cook", True, 1]],
            "The network refuses these rows: ",
        ),
    ],
)
def test_rows_that_the_network_cannot_read_are_refused_with_the_reason(explorer, rows, reason):
    status, given = refusal(send(explorer, PREDICT, json.dumps({"rows": rows})))
    assert status == 400
    assert given.startswith(reason)


def test_rules_that_are_none_are_refused_with_the_reason(explorer, rules):
    entry = json.loads(dumps(rules))
    assert refusal(send(explorer, MEASURES, '{"rules": 3}'))[1].startswith("rules: this is no rule file;")
    broken = {**entry, "rules": [{**entry["rules"][0], "then": "perhaps"}]}
    status, reason = refusal(send(explorer, MEASURES, json.dumps({"rules": broken})))
    assert (status, reason) == (400, 'rules: rules[0].then is "perhaps", which is none of the classes.')
    features = [{**feature, "name": f"{feature['name']} x"} for feature in entry["features"]]
    status, reason = refusal(
        send(explorer, MEASURES, json.dumps({"rules": {**entry, "features": features, "rules": []}}))
    )
    assert status == 400
    assert "it lacks 'age x'" in reason


def test_requests_beyond_the_limit_are_refused_before_they_are_read(numbers):
    with Explorer(numbers, [[1.0]], ["a"], max_bytes=1_000) as explorer:
        fits = b'{"rules": 1}'.ljust(1_000)
        assert refusal(send(explorer, MEASURES, fits))[0] == 400
        status, reason = refusal(send(explorer, MEASURES, fits + b" "))
        assert status == 413
        assert reason == "The request has 1,001 bytes, more than the 1,000 that are read."
        # Only announced, never sent: nobody waits for it.
        lines = ("Content-Type: application/json", "Content-Length: 99999999999999999")
        assert status_of(send_bytes(explorer, head(explorer, MEASURES, *lines), end=True)) == 413


def test_an_upload_of_many_megabytes_gets_to_read_its_refusal(explorer):
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
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 400),  # the beginning of TLS
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"GET / HTTP/x\r\n\r\n", 400),
        (b"BREW / HTTP/1.1\r\n\r\n", 501),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 500 + b"\r\n", 431),
    ],
)
def test_what_is_no_http_is_refused(explorer, data, status):
    answer = send_bytes(explorer, data, end=True)
    assert status_of(answer) == status
    assert list(json.loads(answer.partition(b"\r\n\r\n")[2])) == ["error"]
    assert b"<html" not in answer.lower()


@pytest.mark.parametrize("data", [b"", b"\r\n"])
def test_silence_is_met_with_silence(explorer, data):
    assert send_bytes(explorer, data, end=True) == b""


@pytest.mark.parametrize("seed", range(30))
def test_random_bytes_do_not_end_the_server(explorer, seed):
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


# --- A network that fails ---


def a_network(answer):
    """A network over one number, with the classes "a" and "b", that gives what `answer` does to its rows."""
    return CallableNetwork(predict=answer, layers={"all": lambda rows: rows}, classes=["a", "b"])


def test_an_error_of_the_network_is_told_in_the_terminal_only(numbers, caplog):
    def answer(rows):
        if rows[0, 0] == 13:
            raise RuntimeError("the secret of the network")
        return np.where(rows[:, 0] > 0, "b", "a")

    with Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer:
        assert ask(explorer, PREDICT, {"rows": [[5]]})[1]["labels"] == ["b"]
        assert caplog.text == ""
        status, reason = refusal(send(explorer, PREDICT, '{"rows": [[13]]}'))
        assert status == 500
        assert reason == "This failed with RuntimeError; the terminal that the server runs in says more."
        assert "the secret of the network" in caplog.text
        assert ask(explorer, PREDICT, {"rows": [[-5]]})[1]["labels"] == ["a"]


def test_probabilities_that_are_no_numbers_never_get_into_an_answer(numbers):
    def answer(rows):
        chance = np.where(rows[:, 0] == 13, np.nan, 0.25)
        return np.column_stack([chance, 1 - chance])

    with Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer:
        status, reason = refusal(send(explorer, PREDICT, '{"rows": [[13]]}'))
        assert status == 400
        assert "The network's output is NaN" in reason
        assert ask(explorer, PREDICT, {"rows": [[5]]})[1]["probabilities"] == [[0.25, 0.75]]


# --- Many, slow and silent clients ---


def test_many_requests_at_once_are_answered_one_by_one_and_truly(numbers):
    at_once, most = [], []

    def answer(rows):
        at_once.append(1)
        most.append(len(at_once))
        time.sleep(0.002)
        at_once.pop()
        return np.where(rows[:, 0] > 0, "b", "a")

    def question(number):
        rows = [[number - 20], [20 - number]]
        return ask(explorer, PREDICT, {"rows": rows})

    with (
        Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer,
        ThreadPoolExecutor(16) as threads,
    ):
        found = list(threads.map(question, range(41)))
    for number, (status, entry) in enumerate(found):
        assert status == 200
        assert entry["labels"] == ["b" if value > 0 else "a" for value in (number - 20, 20 - number)]
    assert max(most) == 1


def test_questions_that_were_given_up_are_not_worked_on(numbers):
    is_asked, may_go_on, seen = threading.Event(), threading.Event(), []

    def answer(rows):
        seen.extend(rows[:, 0].tolist())
        if rows[0, 0] == 13:
            is_asked.set()
            may_go_on.wait(20)
        return np.where(rows[:, 0] > 0, "b", "a")

    with (
        Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer,
        ThreadPoolExecutor(1) as threads,
    ):
        first = threads.submit(ask, explorer, PREDICT, {"rows": [[13]]})
        assert is_asked.wait(20)
        waiting = [connect(explorer) for _ in range(3)]
        for number, connection in enumerate(waiting, 101):
            body = f'{{"rows": [[{number}]]}}'.encode()
            lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
            connection.sendall(head(explorer, PREDICT, *lines) + body)
        wait_until(lambda: len(explorer._server._open) == 4)
        for connection in waiting:
            connection.close()
        wait_until(lambda: len(explorer._server._open) == 1)
        may_go_on.set()
        assert first.result(20)[0] == 200
        assert ask(explorer, PREDICT, {"rows": [[5]]})[0] == 200
    assert not {101, 102, 103} & set(seen)


def test_more_connections_than_there_is_room_for_are_turned_away(numbers):
    with Explorer(numbers, max_connections=3, timeout=1.0) as explorer:
        silent = [connect(explorer) for _ in range(3)]
        try:
            wait_until(lambda: len(explorer._server._open) == 3)
            assert refusal(send(explorer, ""))[0] == 503
        finally:
            wait_until(lambda: send(explorer, "")[0] == 200)  # the silent ones are given up
            for connection in silent:
                connection.close()


def test_a_head_that_drips_is_cut_off(numbers):
    with Explorer(numbers, timeout=0.5) as explorer:
        assert drip(explorer, head(explorer, "", "X: " + "a" * 1_000, method="GET")) == b""
        assert send(explorer, "")[0] == 200


def test_a_body_that_drips_is_cut_off(numbers):
    with Explorer(numbers, [[1.0]], ["a"], timeout=0.5) as explorer:
        start = head(explorer, MEASURES, "Content-Type: application/json", "Content-Length: 1000")
        answer = drip(explorer, b" " * 1_000, start)
        assert status_of(answer) == 408
        assert send(explorer, "")[0] == 200


def drip(explorer, data, start=b""):
    """Send byte by byte until the server has had enough; what it says to that."""
    begin = time.monotonic()
    with connect(explorer) as connection:
        connection.sendall(start)
        connection.settimeout(0.05)
        for byte in data:
            try:
                connection.sendall(bytes([byte]))
                answer = connection.recv(2**16)
            except TimeoutError:
                continue
            except ConnectionError:
                answer = b""
            assert time.monotonic() - begin < 5
            return answer
    raise AssertionError("The server listened to the end.")


def test_a_client_that_does_not_read_is_cut_off(numbers):
    options = {"title": "x" * 2**24, "timeout": 0.5, "max_connections": 1}
    with Explorer(numbers, **options) as explorer, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((urlsplit(explorer.url).hostname, urlsplit(explorer.url).port))
        deaf.sendall(head(explorer, "", method="GET"))
        wait_until(lambda: len(explorer._server._open) == 1)
        assert send(explorer, "nothing")[0] == 503
        wait_until(lambda: send(explorer, "nothing")[0] == 404)


def test_clients_that_go_away_leave_no_trace(numbers, caplog):
    with Explorer(numbers, title="x" * 2**22) as explorer:
        for data in (b"", b"GET", head(explorer, "", method="GET")):
            connection = connect(explorer)
            # Closed with a reset, as when a browser is killed.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            connection.sendall(data)
            connection.close()
        wait_until(lambda: not explorer._server._open)
        assert send(explorer, "")[0] == 200
    assert caplog.text == ""


def wait_until(holds):
    latest = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < latest
        time.sleep(0.02)


# --- Beginning and end ---


def test_after_the_end_nobody_listens_and_no_thread_is_left(numbers):
    before = threading.active_count()
    with Explorer(numbers) as explorer:
        idle = connect(explorer)
        wait_until(lambda: explorer._server._open)
        address = urlsplit(explorer.url)
        begin = time.monotonic()
    assert time.monotonic() - begin < 4
    assert idle.recv(1) == b""
    idle.close()
    wait_until(lambda: threading.active_count() == before)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port), 5)
    explorer.close()


def test_waiting_ends_when_the_explorer_is_closed(numbers):
    with Explorer(numbers) as explorer:
        threading.Timer(0.1, explorer.close).start()
        explorer.wait()
        assert repr(explorer) == "Explorer(not open)"


def test_a_question_that_is_being_answered_does_not_hold_up_the_end_forever(numbers):
    is_asked, may_go_on = threading.Event(), threading.Event()

    def answer(rows):
        if rows[0, 0] == 13:
            is_asked.set()
            may_go_on.wait(20)
        return np.where(rows[:, 0] > 0, "b", "a")

    explorer = Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)).start()
    body = b'{"rows": [[13]]}'
    lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    with connect(explorer) as connection:
        connection.sendall(head(explorer, PREDICT, *lines) + body)
        assert is_asked.wait(20)
        threading.Timer(0.2, may_go_on.set).start()
        begin = time.monotonic()
        explorer.close()
        assert 0.1 < time.monotonic() - begin < 4
        assert read_all(connection) == b""


def test_an_explorer_that_is_not_open_has_no_address(numbers):
    explorer = Explorer(numbers)
    assert repr(explorer) == "Explorer(not open)"
    for use in (lambda: explorer.url, explorer.wait, explorer.open_browser):
        with pytest.raises(RuntimeError, match="not open"):
            use()
    with explorer:
        assert repr(explorer) == f"Explorer(at {explorer.url})"
        with pytest.raises(RuntimeError, match="already open"):
            explorer.start()


def test_a_port_that_is_taken_is_an_error_that_says_so(numbers):
    with Explorer(numbers) as explorer:
        port = urlsplit(explorer.url).port
        with pytest.raises(OSError, match=f"Port {port} cannot be used"):
            Explorer(numbers, port=port).start()
    with Explorer(numbers, port=port) as again:
        assert urlsplit(again.url).port == port


@pytest.mark.parametrize("port", [-1, 65536, 80.5, "80", True, None])
def test_what_is_no_port_is_refused(numbers, port):
    with pytest.raises(ValueError, match="port is"):
        Explorer(numbers, port=port)


def test_the_browser_is_sent_with_a_ticket_that_is_good_once(numbers, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    with Explorer(numbers) as explorer:
        assert explorer.open_browser() is True
        (ticket,) = opened
        path, token = urlsplit(ticket).path, urlsplit(explorer.url).path
        assert token.strip("/") not in ticket
        assert refusal(send(explorer, path, headers={"Host": "evil.example"}))[0] == 403
        assert refusal(send(explorer, path + "x"))[0] == 404
        status, headers, _ = send(explorer, path)
        assert (status, headers["Location"]) == (303, token)
        assert refusal(send(explorer, path))[0] == 404


def test_explore_shows_the_page_until_it_is_interrupted(tmp_path, numbers):
    numbers.save(tmp_path / "rules.json")
    script = (
        "import sys; from clausewise import RuleSet\n"
        "RuleSet.load(sys.argv[1]).explore([[1.0], [-1.0]], ['b', 'a'], open_browser=False)\n"
        "print('The end.')"
    )
    command = [sys.executable, "-c", script, tmp_path / "rules.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = re.search(r"http://\S+", process.stdout.readline())[0]
            assert process.stdout.readline() == "Press Ctrl-C to end.\n"
            address = urlsplit(url)
            connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
            connection.request("GET", address.path)
            assert connection.getresponse().status == 200
            connection.close()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 0
    assert out == "The end.\n"
    assert err == ""


# --- In a browser ---


@pytest.fixture
def open_served(browser):
    """Opens a served page, which fails the test on requests to anywhere else, errors and warnings."""
    contexts, troubles, asked = [], [], []

    def open_page(url):
        context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("request", lambda request: asked.append((request.method, request.url)))
        page.on("console", lambda message: troubles.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error in the page: {error}"))
        page.goto(url)
        page.wait_for_selector("[role=tabpanel]")
        return page, asked

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


ASK = """async ([path, request]) => {
    const answer = await fetch(path, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request),
    });
    return [answer.status, await answer.json()];
}"""


def test_the_page_works_in_a_browser_and_asks_its_own_server_only(explorer, open_served, people, rules):
    X, y, network = people
    page, asked = open_served(explorer.url)
    assert page.title().startswith("People")
    assert page.evaluate("() => window.clausewise.store.payload.served.n_total") == 300
    check_accessibility(page)
    status, found = page.evaluate(ASK, [PREDICT, {"rows": X.iloc[:5].to_numpy(dtype=object).tolist()}])
    assert (status, found["labels"]) == (200, network.labels(X.iloc[:5]).tolist())
    status, found = page.evaluate(ASK, [MEASURES, {"rules": json.loads(dumps(rules[:1]))}])
    assert (status, found["accuracy"]) == (200, rules[:1].evaluate(X, y).accuracy)
    assert asked == [
        ("GET", explorer.url),
        ("POST", explorer.url + PREDICT),
        ("POST", explorer.url + MEASURES),
    ]


def test_a_ticket_leads_a_browser_to_the_page(explorer, open_served, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    explorer.open_browser()
    page, _ = open_served(opened[0])
    assert page.url.split("#")[0] == explorer.url


def test_another_site_in_the_same_browser_gets_no_answer(browser, numbers):
    asked = []

    def answer(rows):
        asked.append(rows)
        return np.where(rows[:, 0] > 0, "b", "a")

    context = browser.new_context()
    site = "http://evil.example/"
    context.route(site, lambda route: route.fulfill(body="<p>hello", content_type="text/html"))
    try:
        with Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer:
            n_before = len(asked)
            page = context.new_page()
            page.goto(site)
            # With our type of content the browser asks first; with any other, it sends at once.
            for options in ("headers: { 'Content-Type': 'application/json' }", "mode: 'no-cors'"):
                script = f"""url => fetch(url, {{ method: "POST", body: '{{"rows": [[1]]}}', {options} }})
                    .then(() => "answered", String)"""
                assert page.evaluate(script, explorer.url + PREDICT) == "TypeError: Failed to fetch"
            assert len(asked) == n_before
            page.evaluate(
                """url => new Promise((resolve) => document.body.append(
                    Object.assign(document.createElement("iframe"), { src: url, onload: resolve })))""",
                explorer.url,
            )
            assert [frame.query_selector("[role=tabpanel]") for frame in page.frames[1:]] == [None]
            assert send(explorer, PREDICT, '{"rows": [[1]]}')[0] == 200
            assert len(asked) > n_before
    finally:
        context.close()
