"""The server of the page: who is answered, how much is read, how long is waited.

It listens on 127.0.0.1, the address of the page holds a random token, and requests must name this server as
Host and, if they name one, as Origin, so that no other site in the same browser reaches it, not even under a
name that was made to point here. All this is looked at before anything else is read. Requests are bounded in
size, time and number. No file is read for an answer, and nothing that is sent is ever executed.
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

from clausewise.report.answers import Answer, Answers, RequestError, reply, shortened
from clausewise.report.html import policy

ADDRESS: Final = "127.0.0.1"
# What is still being sent when a request is refused is thrown away for so long, so that the client gets to
# read the reason; after that the connection is cut.
_LINGER: Final = 2.0
# How often a request that waits for others looks whether anybody still wants its answer.
_LOOK_UP: Final = 0.1
_JSON: Final = "application/json"
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the token is in the address
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Connection": "close",
}
_FOREIGN: Final = "Only the page of this server may ask it."
_LOG: Final = logging.getLogger(__name__)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Connections in, a thread for each of them, as many as there are slots."""

    daemon_threads = True
    request_queue_size = 64
    # On Windows this option lets another program listen on the same port.
    allow_reuse_address = os.name != "nt"

    def __init__(
        self,
        port: int,
        page: bytes,
        answers: Answers,
        max_bytes: int,
        timeout: float,
        max_connections: int,
    ) -> None:
        self.token = secrets.token_urlsafe(32)
        self.page = page
        self.answers = answers
        self.max_bytes = max_bytes
        self.seconds = timeout
        # One request is worked on at a time: not every framework is safe with threads, the rules use all
        # cores by themselves, and only one request at a time takes the memory that its JSON needs.
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
                f"Port {port} cannot be used ({error.strerror}); pass another, or 0 for any free one.",
            ) from None

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    @property
    def hosts(self) -> frozenset[str]:
        """How browsers name this server."""
        names = (ADDRESS, "localhost")
        with_port = [f"{name}:{self.port}" for name in names]
        return frozenset([*with_port, *names] if self.port == 80 else with_port)

    def new_ticket(self) -> str:
        """A secret that can be exchanged for the token, once."""
        ticket = secrets.token_urlsafe(32)
        with self._guard:
            self._tickets.add(ticket)
        return ticket

    def takes_ticket(self, given: str) -> bool:
        """Whether this is a ticket, which it then is no longer."""
        with self._guard:
            found = [ticket for ticket in self._tickets if _is_same(given, ticket)]
            self._tickets.difference_update(found)
        return bool(found)

    def end(self) -> None:
        """Accept no more, cut what is open, and wait for threads that still compute, but not forever."""
        self.shutdown()
        self.server_close()
        with self._guard:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        latest = time.monotonic() + 5.0
        for _ in range(self._n_slots):
            if not self._slots.acquire(timeout=max(latest - time.monotonic(), 0.0)):
                break

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread, or turn it away when all slots are taken."""
        if not self._slots.acquire(blocking=False):
            self._turn_away(request)
            return
        with self._guard:
            self._open.add(request)
        try:
            super().process_request(request, client_address)
        except BaseException:  # there is no thread that would give the slot back
            self._forget(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """What a thread does."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._forget(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tell of an error that is ours; a client that went away or was too slow is not worth a word."""
        if isinstance(sys.exception(), OSError):
            _LOG.debug("A connection ended early.", exc_info=True)
        else:
            _LOG.exception("A request could not be served.")

    def _forget(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        self._slots.release()

    def _turn_away(self, request: Any) -> None:
        body = json.dumps({"error": "Too many requests at once; try again in a moment."}).encode()
        head = f"HTTP/1.0 503 Service Unavailable\r\nContent-Type: {_JSON}\r\nContent-Length: {len(body)}\r\n"
        # This is the thread that accepts connections: it waits for nobody.
        request.setblocking(False)
        with suppress(OSError):
            request.sendall(f"{head}Retry-After: 1\r\n\r\n".encode() + body)
            request.recv(2**16)
        self.shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    """One connection, which is one request."""

    server: Server
    protocol_version = "HTTP/1.0"  # without keep-alive no connection outlives its answer

    def setup(self) -> None:
        """Read with a time limit for the whole request: one for each read would let a client drip forever."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_ReadUntil(self.connection, time.monotonic() + self.server.seconds))

    def answer(self) -> None:
        """Answer a request with any method."""
        try:
            self._check_sender()
            self._find_answer()()
        except RequestError as refusal:
            self._refuse(refusal)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = answer  # noqa: N815

    # --- Who asks for what ---

    def _check_sender(self) -> None:
        """Refuse what another site sends through the user's browser."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.server.hosts:
            raise RequestError(
                HTTPStatus.FORBIDDEN,
                f"This server answers as {ADDRESS}:{self.server.port} and localhost:{self.server.port} only.",
            )
        own = {f"http://{host}" for host in self.server.hosts}
        if any(origin.strip().lower() not in own for origin in self.headers.get_all("Origin", [])):
            raise RequestError(HTTPStatus.FORBIDDEN, _FOREIGN)

    def _find_answer(self) -> Callable[[], None]:
        before, _, path = self.path.partition("?")[0].partition("/")
        first, slash, rest = path.partition("/")
        if not slash and self.command == "GET" and self.server.takes_ticket(first):
            return self._send_on
        routes: Mapping[str, tuple[tuple[str, ...], Callable[[], None]]] = {
            "": (("GET", "HEAD"), self._send_page),
            "api/predict": (("POST",), lambda: self._send_answer(self.server.answers.predict)),
            "api/measures": (("POST",), lambda: self._send_answer(self.server.answers.measures)),
        }
        # The token is compared first, so that nobody without it learns what there is.
        is_ours = _is_same(first, self.server.token) and before == "" and slash == "/"
        if not is_ours or rest not in routes:
            raise RequestError(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
        methods, answer = routes[rest]
        if self.command not in methods:
            allowed = ", ".join(methods)
            raise RequestError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                f"{self.command} is not possible here; use {allowed}.",
                {"Allow": allowed},
            )
        return answer

    # --- Reading ---

    def _body(self) -> bytes:
        # Links may lead here from anywhere; questions come from our own page, and browsers say so.
        if self.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise RequestError(HTTPStatus.FORBIDDEN, _FOREIGN)
        # No other site can send this type without asking first, which is refused.
        if self.headers.get_content_type() != _JSON:
            raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send Content-Type: {_JSON}.")
        return self._received(self._length())

    def _length(self) -> int:
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or not lengths:
            raise RequestError(
                HTTPStatus.LENGTH_REQUIRED, "Send the body in one piece and its size as Content-Length."
            )
        # int() would take signs, spaces, underscores and the digits of other scripts as well.
        if len(lengths) > 1 or not re.fullmatch("[0-9]{1,18}", lengths[0].strip()):
            raise RequestError(HTTPStatus.BAD_REQUEST, "Content-Length is no size; send the number of bytes.")
        length = int(lengths[0])
        if length > self.server.max_bytes:
            raise RequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The request has {length:,} bytes, more than the {self.server.max_bytes:,} that are read.",
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

    # --- Answering ---

    def _send_page(self) -> None:
        headers = {"Content-Security-Policy": f"{policy(is_served=True)}; frame-ancestors 'none'"}
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page, headers)

    def _send_on(self) -> None:
        self._send(HTTPStatus.SEE_OTHER, "text/plain", b"", {"Location": f"/{self.server.token}/"})

    def _send_answer(self, answer: Answer) -> None:
        body = self._body()  # before the lock is taken: a slow client holds up nobody
        # The page gives up questions that it no longer needs, such as those of a slider that moved on.
        while not self.server.working.acquire(timeout=_LOOK_UP):
            if self._is_gone():
                raise ConnectionAbortedError("The client went away while it waited.")
        try:
            content = reply(answer, body)
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
        self.connection.settimeout(self.server.seconds)  # for all of it, however slowly it is read
        # The base class takes what it cannot read for HTTP 0.9, whose answers have no status.
        self.request_version = self.protocol_version
        self.send_response(status)
        closed = {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
        length = {"Content-Type": content_type, "Content-Length": str(len(body))}
        for name, value in (_HEADERS | closed | length | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _is_gone(self) -> bool:
        self.connection.setblocking(False)
        try:
            return len(self.connection.recv(1, socket.MSG_PEEK)) == 0
        except BlockingIOError:
            return False

    def _linger(self) -> None:
        """Throw away what was not read; closing at once would cut off the answer."""
        self.connection.shutdown(socket.SHUT_WR)
        latest, n_left = time.monotonic() + min(_LINGER, self.server.seconds), 4 * self.server.max_bytes
        while n_left > 0 and (seconds := latest - time.monotonic()) > 0:
            self.connection.settimeout(seconds)
            n_read = len(self.connection.recv(2**16))
            if n_read == 0:
                break
            n_left -= n_read

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses, such as requests that are no HTTP, in our form."""
        status = HTTPStatus(code)
        # The base class repeats what it was sent, up to 64 kB of it.
        self._refuse(RequestError(status, f"{shortened(message or status.phrase)}."))

    def version_string(self) -> str:
        """What the server calls itself."""
        return "clausewise"

    def log_message(self, format: str, *args: Any) -> None:
        """Log no request: addresses hold the token."""


class _ReadUntil(io.RawIOBase):
    """Bytes of a connection, until a moment."""

    def __init__(self, connection: socket.socket, latest: float) -> None:
        self._connection = connection
        self._latest = latest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds = self._latest - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("The request took too long to arrive.")
        self._connection.settimeout(seconds)
        return self._connection.recv_into(buffer)


def _is_same(given: str, secret: str) -> bool:
    """Equality, in a time that does not tell how much of it is right."""
    return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode("ascii"))
