"""Starting, waiting for and closing a server, and opening the browser."""

import http.client
import re
import signal
import socket
import subprocess
import sys
import threading
import webbrowser
from urllib.parse import urlsplit

import numpy as np
import pytest

from clausewise.report import Explorer
from tests.report.serve.client import PREDICT, a_network, connect, head, read_all, refusal, send, wait_until


def test_closing_frees_the_port_and_ends_all_threads(numbers):
    before = threading.active_count()
    with Explorer(numbers, timeout=600) as explorer:  # which closing does not wait for
        idle = connect(explorer)
        wait_until(lambda: explorer._server._open)
        address = urlsplit(explorer.url)
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


def test_closing_waits_for_a_running_request(numbers):
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
        explorer.close()
        assert may_go_on.is_set()
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


def test_a_port_in_use_is_an_error_that_says_so(numbers):
    with Explorer(numbers) as explorer:
        port = urlsplit(explorer.url).port
        with pytest.raises(OSError, match=f"Port {port} cannot be used"):
            Explorer(numbers, port=port).start()
    with Explorer(numbers, port=port) as again:
        assert urlsplit(again.url).port == port


@pytest.mark.parametrize("port", [-1, 65536, 80.5, "80", True, None])
def test_invalid_ports_are_refused(numbers, port):
    with pytest.raises(ValueError, match=r"port is .*; expected a whole number from 0 to 65535"):
        Explorer(numbers, port=port)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_bytes", 0),
        ("timeout", -1),
        ("max_connections", 1.5),
        ("max_rows", 0),
        ("title", 3),
        ("frontier", 3),
    ],
)
def test_invalid_options_are_refused_by_name(numbers, name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}; expected "):
        Explorer(numbers, **{name: value})


def test_the_browser_is_opened_with_a_ticket_that_is_valid_once(numbers, monkeypatch):
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
            assert process.stdout.readline() == "Press Ctrl-C to stop.\n"
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
