"""The page served: the same report, with all rows and the network behind it, for this machine alone."""

import numbers
import threading
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from clausewise.compact import Frontier
from clausewise.report.answers import Answers
from clausewise.report.html import page
from clausewise.report.http_server import ADDRESS, Server
from clausewise.report.payload import payload_of, report_data
from clausewise.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from typing import Self

MAX_ROWS: Final = 20_000
MAX_BYTES: Final = 16 * 2**20
MAX_CONNECTIONS: Final = 32
TIMEOUT: Final = 30.0


def explore(
    rules: RuleSet,
    X: Any = None,
    y: Any = None,
    network: Any = None,
    *,
    title: str | None = None,
    port: int = 0,
    open_browser: bool = True,
    max_rows: int | float | None = MAX_ROWS,
    random_state: int = 0,
    frontier: Frontier | None = None,
) -> None:
    """Serve the page of a rule set until Ctrl-C; see `RuleSet.explore`."""
    options: dict[str, Any] = {"title": title, "max_rows": max_rows, "random_state": random_state}
    explorer = Explorer(rules, X, y, network, port=port, frontier=frontier, **options)
    with explorer, suppress(KeyboardInterrupt):
        print(f"The rules are shown at {explorer.url}\nPress Ctrl-C to end.", flush=True)
        if open_browser:
            explorer.open_browser()
        explorer.wait()


class Explorer:
    """The page of a rule set, served on 127.0.0.1 while this object is open.

    Use it in a `with` statement, or call `start` and `close`.

    Parameters
    ----------
    rules, X, y, network, title, max_rows, random_state, frontier, port
        As for `RuleSet.explore`.
    max_bytes : int
        Largest request that is read.
    timeout : float
        Seconds that a client may take to send its request, and then to read the answer.
    max_connections : int
        Connections that are served at once; others are told to come back.

    Examples
    --------
    >>> import clausewise
    >>> from clausewise.report.serve import Explorer
    >>> rules = clausewise.RuleSet.from_rules([], ["age"], default="no", classes=["no", "yes"])
    >>> with Explorer(rules) as explorer:
    ...     print(explorer.url)  # doctest: +ELLIPSIS
    http://127.0.0.1:.../.../
    """

    def __init__(
        self,
        rules: RuleSet,
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        port: int = 0,
        max_rows: int | float | None = MAX_ROWS,
        random_state: int = 0,
        frontier: Frontier | None = None,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        self._port = _checked_port(port)
        self._limits = max_bytes, timeout, max_connections
        data = report_data(rules, X, y, network)
        self._answers = Answers(data)
        payload = payload_of(
            rules,
            data,
            title=title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            served=self._answers.served,
        )
        self._page = page(payload).encode("utf-8")
        self._server: Server | None = None
        self._is_closed = threading.Event()

    @property
    def url(self) -> str:
        """The address of the page; whoever knows it, on this machine, can ask what the page asks."""
        server = self._started()
        return f"http://{ADDRESS}:{server.port}/{server.token}/"

    def start(self) -> "Self":
        """Begin to serve, in a thread of its own."""
        if self._server is not None:
            raise RuntimeError(f"This explorer is already open, at {self.url}")
        self._is_closed.clear()
        self._server = Server(self._port, self._page, self._answers, *self._limits)
        # The accepting thread looks this often whether it should end.
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def close(self) -> None:
        """End: cut all connections, and wait a moment for what is being computed. May be called twice."""
        server, self._server = self._server, None
        if server is not None:
            server.end()
        self._is_closed.set()

    def wait(self) -> None:
        """Wait until `close` is called by another thread, or for Ctrl-C, which is a KeyboardInterrupt."""
        self._started()
        # In slices: a wait without end cannot be interrupted on Windows.
        while not self._is_closed.wait(0.5):
            pass

    def open_browser(self) -> bool:
        """Open the page in the browser; False if there is none."""
        server = self._started()
        # Other users of this machine see the command lines of browsers, so a ticket stands there, which the
        # first who comes with it exchanges for the address.
        return webbrowser.open(f"http://{ADDRESS}:{server.port}/{server.new_ticket()}")

    def _started(self) -> Server:
        if self._server is None:
            raise RuntimeError("This explorer is not open; use it in a `with` statement, or call start().")
        return self._server

    def __enter__(self) -> "Self":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Explorer(not open)" if self._server is None else f"Explorer(at {self.url})"


def _checked_port(port: Any) -> int:
    is_whole = isinstance(port, numbers.Integral) and not isinstance(port, bool)
    if not is_whole or not 0 <= port <= 65535:
        raise ValueError(f"port is {port!r}; expected a whole number from 0 (any free port) to 65535.")
    return int(port)
