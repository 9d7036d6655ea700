"""The served page is the report, with headers that isolate it and a secret address."""

import json
import re
from urllib.parse import urlsplit

import pytest

from clausewise.report import Explorer
from tests.report.serve.client import PREDICT, send


def test_the_page_is_the_report_and_declares_its_api(explorer, people):
    status, headers, content = send(explorer, "")
    payload = json.loads(re.search(r'id="clausewise-payload">(.*?)</script>', content.decode(), re.DOTALL)[1])
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert payload["title"] == "People"
    assert payload["served"] == {"api": "api/", "has_network": True, "has_truth": True, "n_total": 300}
    assert (payload["rows"]["n_shown"], payload["rows"]["n_total"]) == (50, 300)


@pytest.mark.parametrize(("path", "body"), [("", None), (PREDICT, "{}"), ("nothing", None)])
def test_every_response_has_headers_that_isolate_it(explorer, path, body):
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


def test_the_page_may_only_connect_to_its_own_server(explorer):
    policy = send(explorer, "")[1]["Content-Security-Policy"]
    assert re.findall(r"connect-src ([^;]*)", policy) == ["'self'"]
    assert "unsafe" not in policy


def test_head_returns_no_body(explorer):
    status, headers, content = send(explorer, "", method="HEAD")
    assert (status, content) == (200, b"")
    assert int(headers["Content-Length"]) == len(send(explorer, "")[2])


def test_each_start_has_a_new_token(numbers):
    explorer = Explorer(numbers)
    with explorer:
        first = urlsplit(explorer.url).path
    with explorer:
        assert urlsplit(explorer.url).path != first
    assert re.fullmatch(r"/[\w-]{43}/", first)


def test_the_server_listens_on_the_local_address_only(explorer):
    assert urlsplit(explorer.url).hostname == "127.0.0.1"
    assert explorer._server.socket.getsockname()[0] == "127.0.0.1"
