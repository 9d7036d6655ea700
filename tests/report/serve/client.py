"""A client for served pages: requests, raw bytes, and networks that the page asks."""

import http.client
import json
import re
import socket
import time
from urllib.parse import urlsplit

from clausewise.networks import CallableNetwork

PREDICT, MEASURES = "api/predict", "api/measures"
AGE, JOB, VISITS = 0, 1, 3  # positions of the columns of `people`


def own_headers(explorer):
    return {"Host": urlsplit(explorer.url).netloc, "Content-Type": "application/json"}


def send(explorer, path, body=None, *, method=None, headers=None):
    """Return status, headers and content of the response; without a leading "/", `path` follows the token."""
    address = urlsplit(explorer.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    try:
        connection.request(
            method or ("GET" if body is None else "POST"),
            path if path.startswith("/") else address.path + path,
            body,
            {**own_headers(explorer), **(headers or {})},
        )
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def ask(explorer, path, request):
    status, headers, content = send(explorer, path, json.dumps(request))
    assert headers["Content-Type"] == "application/json"
    return status, json.loads(content)


def refusal(response):
    """Return status and reason of a response, which must be a refusal in JSON, without a traceback."""
    status, headers, content = response
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
    """Return everything that the server sends back; `end` closes our side of the connection."""
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
    """Return the head of a request to this server, with these lines."""
    address = urlsplit(explorer.url)
    start = [f"{method} {address.path}{path} HTTP/1.1", f"Host: {address.netloc}"]
    return "\r\n".join([*start, *lines, "", ""]).encode()


def status_of(response):
    return int(re.match(rb"HTTP/1\.0 (\d{3}) ", response)[1])


def wait_until(holds):
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def a_network(predict):
    """Return a network over one number with the classes "a" and "b"."""
    return CallableNetwork(predict=predict, layers={"all": lambda rows: rows}, classes=["a", "b"])
