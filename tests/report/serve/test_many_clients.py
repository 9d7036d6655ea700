"""Many, slow and silent clients do not block the server."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np

from clausewise.report import Explorer
from tests.report.serve.client import (
    MEASURES,
    PREDICT,
    a_network,
    ask,
    connect,
    head,
    refusal,
    send,
    status_of,
    wait_until,
)


def test_simultaneous_requests_are_processed_one_by_one_and_correctly(numbers):
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


def test_cancelled_requests_are_not_processed(numbers):
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


def test_connections_above_the_maximum_are_refused(numbers):
    with Explorer(numbers, max_connections=3, timeout=1.0) as explorer:
        silent = [connect(explorer) for _ in range(3)]
        try:
            wait_until(lambda: len(explorer._server._open) == 3)
            assert refusal(send(explorer, ""))[0] == 503
        finally:
            wait_until(lambda: send(explorer, "")[0] == 200)  # the silent ones time out
            for connection in silent:
                connection.close()


def test_a_head_sent_byte_by_byte_is_cut_off(numbers):
    with Explorer(numbers, timeout=0.5) as explorer:
        assert drip(explorer, head(explorer, "", "X: " + "a" * 1_000, method="GET")) == b""
        assert send(explorer, "")[0] == 200


def test_a_body_sent_byte_by_byte_is_cut_off(numbers):
    with Explorer(numbers, [[1.0]], ["a"], timeout=0.5) as explorer:
        start = head(explorer, MEASURES, "Content-Type: application/json", "Content-Length: 1000")
        answer = drip(explorer, b" " * 1_000, start)
        assert status_of(answer) == 408
        assert send(explorer, "")[0] == 200


def drip(explorer, data, start=b""):
    """Send byte by byte until the server ends the connection; return its response."""
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
            return answer
    raise AssertionError("The server read all bytes.")


def test_a_client_that_does_not_read_is_cut_off(numbers):
    options = {"title": "x" * 2**24, "timeout": 0.5, "max_connections": 1}
    with Explorer(numbers, **options) as explorer, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((urlsplit(explorer.url).hostname, urlsplit(explorer.url).port))
        deaf.sendall(head(explorer, "", method="GET"))
        wait_until(lambda: len(explorer._server._open) == 1)
        assert send(explorer, "nothing")[0] == 503
        wait_until(lambda: send(explorer, "nothing")[0] == 404)


def test_clients_that_disconnect_are_not_logged(numbers, caplog):
    with Explorer(numbers, title="x" * 2**22) as explorer:
        for data in (b"", b"GET", head(explorer, "", method="GET")):
            connection = connect(explorer)
            # Closed by a reset, as when a browser is killed.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            connection.sendall(data)
            connection.close()
        wait_until(lambda: not explorer._server._open)
        assert send(explorer, "")[0] == 200
    assert caplog.text == ""
