"""The HTTP server of a page: access control and limits.

It listens on 127.0.0.1, and the address of the page contains a random token. Requests must name this server
as Host and, if present, as Origin, so that no other site in the same browser can reach it, not even by DNS
rebinding. All of this is checked before the body is read. Requests are limited in size, time and number. No
file is read to answer a request, and nothing in a request is executed.
"""

import io
import json
import logging
import os
import re
import secrets
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from clausewise.report.html import policy
from clausewise.report.page_api import Endpoint, PageApi, RequestError, respond, shortened

ADDRESS: Final = "127.0.0.1"
# After a response, incoming data is discarded for this many seconds, so that the client can read the response
# before the connection is closed.
_LINGER: Final = 2.0
# How often (in seconds) a waiting request checks whether its client is still connected.
_POLL: Final = 0.1
_JSON: Final = "application/json"
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the address contains the token
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Connection": "close",
}
_FOREIGN: Final = "This server only accepts requests of its own page."
_LOG: Final = logging.getLogger(__name__)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves each connection in a thread, up to a maximum number of connections."""

    daemon_threads = True
    request_queue_size = 64
    # On Windows, this option would let another program listen on the same port.
    allow_reuse_address = os.name != "nt"

    def __init__(
        self,
        port: int,
        page: bytes,
        api: PageApi,
        max_bytes: int,
        timeout: float,
        max_connections: int,
    ) -> None:
        self.token = secrets.token_urlsafe(32)
        self.page = page
        self.api = api
        self.max_bytes = max_bytes
        self.seconds = timeout
        # One request is processed at a time: some frameworks are not thread-safe, rules already use all
        # cores, and the JSON of only one request at a time takes memory.
        self.working = threading.Lock()
        self._n_slots = max_connections
        self._slots = threading.Semaphore(max_connections)
        self._open: set[socket.socket] = set()
        self._tickets: set[str] = set()
        self._guard = threading.Lock()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise OSError(
                error.errno,
                f"Port {port} cannot be used ({error.strerror}); pass another port, or 0 for any free port.",
            ) from None

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        return int(self.server_address[1])

    @property
    def hosts(self) -> frozenset[str]:
        """The values of the Host header that name this server."""
        names = (ADDRESS, "localhost")
        with_port = [f"{name}:{self.port}" for name in names]
        return frozenset([*with_port, *names] if self.port == 80 else with_port)

    def new_ticket(self) -> str:
        """Return a secret that can be exchanged for the token once."""
        ticket = secrets.token_urlsafe(32)
        with self._guard:
            self._tickets.add(ticket)
        return ticket

    def use_ticket(self, given: str) -> bool:
        """Invalidate a ticket, and return whether it was valid."""
        with self._guard:
            found = [ticket for ticket in self._tickets if _is_same(given, ticket)]
            self._tickets.difference_update(found)
        return bool(found)

    def end(self) -> None:
        """Stop accepting connections, close the open ones, and wait up to 5 seconds for busy threads."""
        self.shutdown()
        self.server_close()
        with self._guard:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + 5.0
        for _ in range(self._n_slots):
            if not self._slots.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
                break

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread, or refuse it if there are too many."""
        if not self._slots.acquire(blocking=False):
            self._refuse_connection(request)
            return
        with self._guard:
            self._open.add(request)
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread was started that would release the slot
            self._forget(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, in its thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._forget(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log errors of the server; clients that disconnect or time out are logged at debug level only."""
        if isinstance(sys.exception(), OSError):
            _LOG.debug("A connection ended early.", exc_info=True)
        else:
            _LOG.exception("A request could not be served.")

    def _forget(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        self._slots.release()

    def _refuse_connection(self, request: Any) -> None:
        body = json.dumps({"error": "Too many connections; try again in a moment."}).encode()
        head = f"HTTP/1.0 503 Service Unavailable\r\nContent-Type: {_JSON}\r\nContent-Length: {len(body)}\r\n"
        # This thread accepts connections and must never wait for a client.
        request.setblocking(False)
        with suppress(OSError):
            request.sendall(f"{head}Retry-After: 1\r\n\r\n".encode() + body)
            request.recv(2**16)
        self.shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    """Handles one connection, which carries one request."""

    server: Server
    protocol_version = "HTTP/1.0"  # no keep-alive: the connection ends with the response

    def setup(self) -> None:
        """Limit the time for the whole request; with a limit per read, a slow client could stay forever."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_ReadUntil(self.connection, time.monotonic() + self.server.seconds))

    def handle_request(self) -> None:
        """Respond to a request with any method."""
        try:
            self._check_sender()
            self._route()()
        except RequestError as refusal:
            self._refuse(refusal)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = handle_request  # noqa: N815

    # --- Access and routes ---

    def _check_sender(self) -> None:
        """Refuse requests that another site sends through the user's browser."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.server.hosts:
            raise RequestError(
                HTTPStatus.FORBIDDEN,
                f"This server only answers as {ADDRESS}:{self.server.port} or localhost:{self.server.port}.",
            )
        own = {f"http://{host}" for host in self.server.hosts}
        if any(origin.strip().lower() not in own for origin in self.headers.get_all("Origin", [])):
            raise RequestError(HTTPStatus.FORBIDDEN, _FOREIGN)

    def _route(self) -> Callable[[], None]:
        before, _, path = self.path.partition("?")[0].partition("/")
        first, slash, rest = path.partition("/")
        if not slash and self.command == "GET" and self.server.use_ticket(first):
            return self._redirect
        routes: Mapping[str, tuple[tuple[str, ...], Callable[[], None]]] = {
            "": (("GET", "HEAD"), self._send_page),
            "api/predict": (("POST",), lambda: self._send_response(self.server.api.predict)),
            "api/measures": (("POST",), lambda: self._send_response(self.server.api.measures)),
        }
        # The token is checked first, so that clients without it learn nothing about other paths.
        is_ours = _is_same(first, self.server.token) and before == "" and slash == "/"
        if not is_ours or rest not in routes:
            raise RequestError(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
        methods, action = routes[rest]
        if self.command not in methods:
            allowed = ", ".join(methods)
            raise RequestError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                f"{self.command} is not allowed here; use {allowed}.",
                {"Allow": allowed},
            )
        return action

    # --- Reading ---

    def _body(self) -> bytes:
        # Any site may link to the page, but API requests come from the page itself, as browsers declare.
        if self.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise RequestError(HTTPStatus.FORBIDDEN, _FOREIGN)
        # Other sites cannot send this type without a preflight request, which is refused.
        if self.headers.get_content_type() != _JSON:
            raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send Content-Type: {_JSON}.")
        return self._received(self._length())

    def _length(self) -> int:
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or not lengths:
            raise RequestError(
                HTTPStatus.LENGTH_REQUIRED, "Send the body in one piece, with its size as Content-Length."
            )
        # int() would also accept signs, spaces, underscores and the digits of other scripts.
        if len(lengths) > 1 or not re.fullmatch("[0-9]{1,18}", lengths[0].strip()):
            raise RequestError(HTTPStatus.BAD_REQUEST, "Content-Length is not a number of bytes.")
        length = int(lengths[0])
        if length > self.server.max_bytes:
            raise RequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The request has {length:,} bytes; at most {self.server.max_bytes:,} are allowed.",
            )
        return length

    def _received(self, length: int) -> bytes:
        try:
            body = self.rfile.read(length)
        except TimeoutError:
            raise RequestError(HTTPStatus.REQUEST_TIMEOUT, "The request took too long to arrive.") from None
        if len(body) < length:
            raise RequestError(
                HTTPStatus.BAD_REQUEST, f"The request ended after {len(body):,} of {length:,} bytes."
            )
        return body

    # --- Responding ---

    def _send_page(self) -> None:
        headers = {"Content-Security-Policy": f"{policy(is_served=True)}; frame-ancestors 'none'"}
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page, headers)

    def _redirect(self) -> None:
        self._send(HTTPStatus.SEE_OTHER, "text/plain", b"", {"Location": f"/{self.server.token}/"})

    def _send_response(self, endpoint: Endpoint) -> None:
        body = self._body()  # before taking the lock, so that a slow client does not block others
        # The page cancels requests that it no longer needs, such as earlier positions of a slider.
        while not self.server.working.acquire(timeout=_POLL):
            if self._is_disconnected():
                raise ConnectionAbortedError("The client disconnected while it waited.")
        try:
            content = respond(endpoint, body)
        finally:
            self.server.working.release()
        self._send(HTTPStatus.OK, _JSON, content)
        self._linger()

    def _refuse(self, refusal: RequestError) -> None:
        body = json.dumps({"error": str(refusal)}).encode("ascii")
        self._send(refusal.status, _JSON, body, refusal.headers)
        self._linger()

    def _send(
        self, status: HTTPStatus, content_type: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.connection.settimeout(self.server.seconds)  # for the whole response, however slowly it is read
        # The base class treats malformed requests as HTTP 0.9, whose responses have no status line.
        self.request_version = self.protocol_version
        self.send_response(status)
        no_content = {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
        length = {"Content-Type": content_type, "Content-Length": str(len(body))}
        for name, value in (_HEADERS | no_content | length | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _is_disconnected(self) -> bool:
        self.connection.setblocking(False)
        try:
            return len(self.connection.recv(1, socket.MSG_PEEK)) == 0
        except BlockingIOError:
            return False

    def _linger(self) -> None:
        """Discard unread data for a while; closing at once could cut off the response."""
        self.connection.shutdown(socket.SHUT_WR)
        deadline, n_left = time.monotonic() + min(_LINGER, self.server.seconds), 4 * self.server.max_bytes
        while n_left > 0 and (seconds := deadline - time.monotonic()) > 0:
            self.connection.settimeout(seconds)
            n_read = len(self.connection.recv(2**16))
            if n_read == 0:
                break
            n_left -= n_read

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send errors of the base class, such as malformed HTTP, in the same form as other refusals."""
        status = HTTPStatus(code)
        # The message of the base class may repeat up to 64 kB of the request.
        self._refuse(RequestError(status, f"{shortened(message or status.phrase)}."))

    def version_string(self) -> str:
        """Return the name of the server."""
        return "clausewise"

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests: their addresses contain the token."""


class _ReadUntil(io.RawIOBase):
    """Reads from a connection until a deadline."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("The request took too long to arrive.")
        self._connection.settimeout(seconds)
        return self._connection.recv_into(buffer)


def _is_same(given: str, secret: str) -> bool:
    """Whether a text equals a secret, compared in constant time."""
    return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode("ascii"))
