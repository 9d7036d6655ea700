"""Only the page itself is answered: wrong tokens, hosts, origins and methods are refused."""

from urllib.parse import urlsplit

import pytest

from tests.report.serve.client import MEASURES, PREDICT, head, refusal, send, send_bytes, status_of


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


def test_incomplete_and_absolute_addresses_find_nothing(explorer):
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
def test_other_paths_find_nothing(explorer, path):
    answer = send_bytes(explorer, head(explorer, path, method="GET"))
    assert status_of(answer) == 404
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", "127.0.0.1:{port}.evil.example", ""],
)
@pytest.mark.parametrize("path", ["", PREDICT])
def test_another_host_is_refused(explorer, host, path):
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
    assert refusal(answer) == (403, "This server only accepts requests of its own page.")


def test_the_own_origin_is_accepted(explorer):
    origin = f"http://{urlsplit(explorer.url).netloc}"
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert send(explorer, PREDICT, '{"rows": [[1, "cook", true, 1]]}', headers=headers)[0] == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_requests_that_the_browser_marks_as_cross_site_are_refused(explorer, site):
    answer = send(explorer, PREDICT, '{"rows": [[1, "cook", true, 1]]}', headers={"Sec-Fetch-Site": site})
    assert refusal(answer)[0] == 403
    # Any site may link to the page.
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


def test_a_wrong_token_reveals_no_methods(explorer):
    assert refusal(send(explorer, "/wrong/api/predict", method="PUT"))[0] == 404
