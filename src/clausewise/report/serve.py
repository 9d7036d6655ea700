"""A report served on this machine, which can ask the network and measure edited rules on all rows."""

import threading
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from clausewise.base.parameters import FLAG, check_parameters, number, whole
from clausewise.compact import Frontier
from clausewise.report.html import page
from clausewise.report.http_server import ADDRESS, Server
from clausewise.report.page_api import PageApi
from clausewise.report.page_kinds import AnyRules, page_kind

if TYPE_CHECKING:
    from typing import Self

MAX_ROWS: Final = 20_000
MAX_BYTES: Final = 16 * 2**20
MAX_CONNECTIONS: Final = 32
TIMEOUT: Final = 30.0

_PARAMETERS: Final = {
    "port": whole(0, 65535),  # 0 for any free port
    "max_bytes": whole(1),
    "timeout": number(above=0),
    "max_connections": whole(1),
}


def explore(
    rules: AnyRules,
    X: Any = None,
    y: Any = None,
    network: Any = None,
    *,
    open_browser: bool = True,
    **options: Any,
) -> None:
    """Serve the page of rules until Ctrl-C; options are those of `Explorer`. See `RuleSet.explore`.

    Examples
    --------
    The page opens in a browser, until Ctrl-C; `Explorer` serves it without blocking:

    >>> from clausewise import RuleSet
    >>> from clausewise.report import explore
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> explore(rules, [[30], [60]], ["low", "high"])  # doctest: +SKIP
    """
    check_parameters({"open_browser": FLAG}, {"open_browser": open_browser})
    with Explorer(rules, X, y, network, **options) as explorer, suppress(KeyboardInterrupt):
        print(f"The rules are shown at {explorer.url}\nPress Ctrl-C to stop.", flush=True)
        if open_browser:
            explorer.open_browser()
        explorer.wait()


class Explorer:
    """The page of rules for classes or for numbers, served on 127.0.0.1 while this object is open.

    Use it in a `with` statement, or call `start` and `close`.

    Parameters
    ----------
    rules : RuleSet or RegressionRules
        The rules to show.
    X, y, network, title, max_rows, random_state, frontier, labels, colors, fixed, port
        As for `RuleSet.explore` and `RegressionRules.explore`, where `y` is called `target`. Pages of rules
        for numbers have neither `colors` nor `fixed`.
    max_bytes : int, default 16777216
        Maximum size of a request.
    timeout : float, default 30
        Seconds that a client may take to send its request, and again to read the response.
    max_connections : int, default 32
        Maximum number of simultaneous connections; further ones get status 503.

    Examples
    --------
    >>> import clausewise
    >>> from clausewise.report import Explorer
    >>> rules = clausewise.RuleSet.from_rules([], ["age"], default="no", classes=["no", "yes"])
    >>> with Explorer(rules) as explorer:
    ...     print(explorer.url)  # doctest: +ELLIPSIS
    http://127.0.0.1:.../.../
    """

    def __init__(
        self,
        rules: AnyRules,
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        port: int = 0,
        max_rows: int | float | None = MAX_ROWS,
        random_state: int = 0,
        frontier: Frontier | None = None,
        labels: Mapping[Any, Any] | None = None,
        colors: Mapping[Any, str] | Sequence[str] | None = None,
        fixed: Iterable[str | int] | None = None,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        limits = {"max_bytes": max_bytes, "timeout": timeout, "max_connections": max_connections}
        check_parameters(_PARAMETERS, {"port": port, **limits})
        options: dict[str, Any] = {
            "title": title,
            "max_rows": max_rows,
            "random_state": random_state,
            "frontier": frontier,
            "labels": labels,
        }
        options |= {
            name: given for name, given in (("colors", colors), ("fixed", fixed)) if given is not None
        }
        kind = page_kind(rules)
        kind.check(options)
        self._port = int(port)
        self._limits = max_bytes, timeout, max_connections
        data = kind.data(rules, X, y, network)
        self._api = PageApi(None if data is None else kind.served(data))
        payload = kind.payload(rules, data, **options, served=self._api.served)
        self._page = page(payload).encode("utf-8")
        self._server: Server | None = None
        self._is_closed = threading.Event()

    @property
    def url(self) -> str:
        """The address of the page. Anyone on this machine who knows it can send the same requests."""
        server = self._started()
        return f"http://{ADDRESS}:{server.port}/{server.token}/"

    def start(self) -> "Self":
        """Start the server in a new thread."""
        if self._server is not None:
            raise RuntimeError(f"This explorer is already open at {self.url}")
        self._is_closed.clear()
        self._server = Server(self._port, self._page, self._api, *self._limits)
        # The accepting thread checks every 0.05 s whether to stop.
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def close(self) -> None:
        """Stop the server: close all connections and wait briefly for running requests. Can be repeated."""
        server, self._server = self._server, None
        if server is not None:
            server.end()
        self._is_closed.set()

    def wait(self) -> None:
        """Wait until another thread calls `close`, or until Ctrl-C, which raises KeyboardInterrupt."""
        self._started()
        # In short steps, because an unlimited wait cannot be interrupted on Windows.
        while not self._is_closed.wait(0.5):
            pass

    def open_browser(self) -> bool:
        """Open the page in a browser; return False if there is none."""
        server = self._started()
        # Other users of this machine can see the command line of the browser, so it only contains a ticket,
        # which can be exchanged for the address once.
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
