"""Reports in a real browser: Debian's Chromium, driven by Playwright.

A page opened here must not ask anybody for anything, must not log an error, and must have no accessibility
violation when `check_accessibility` looks. Where there is no Chromium or no Playwright these tests skip.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.report import number_reports, reports

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}


def chromium_path() -> str | None:
    """Where Chromium is: $CLAUSEWISE_CHROMIUM, or on the path."""
    given = os.environ.get("CLAUSEWISE_CHROMIUM")
    return given or shutil.which("chromium") or shutil.which("chromium-browser")


# Ends with this folder's tests: as long as Playwright runs, no other test could use asyncio.
@pytest.fixture(scope="package")
def browser():
    path = chromium_path()
    if path is None:
        pytest.skip("Chromium is not installed; apt-get install chromium, or set CLAUSEWISE_CHROMIUM.")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is in the extra 'dev'.")
    with playwright.sync_playwright() as driver:
        # Root may not use Chromium's sandbox, and the pages here are our own.
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


class Pages:
    """Pages that tests use one after the other: to start one takes as long as to load a report.

    A page that is given back is emptied, and gets its size and media back. One with a long history is closed.
    """

    _MAX_HISTORY = 25  # of the 50 entries that Chromium keeps

    def __init__(self, browser):
        self._browser, self._free = browser, {}

    def take(self, viewport, theme):
        """Return an empty page, and what to give it back with."""
        kind = (viewport["width"], viewport["height"], theme)
        free = self._free.setdefault(kind, [])
        if free:
            return free.pop(), kind
        context = self._browser.new_context(
            viewport=viewport, color_scheme=theme, reduced_motion="reduce", accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(15_000)
        return page, kind

    def give_back(self, page, kind):
        """Empty a page for the next test."""
        if page.is_closed() or page.evaluate("history.length") > self._MAX_HISTORY:
            page.context.close()
            return
        # A page keeps edits when it is left, which the next test must not find.
        page.evaluate("localStorage.clear(); Storage.prototype.setItem = () => undefined")
        width, height, theme = kind
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="null", forced_colors="null", color_scheme=theme)
        page.goto("about:blank")
        self._free[kind].append(page)

    def close(self):
        """Close all pages."""
        for free in self._free.values():
            for page in free:
                page.context.close()


@pytest.fixture(scope="package")
def pages(browser):
    opened = Pages(browser)
    yield opened
    opened.close()


@pytest.fixture
def open_report(pages):
    """Opens a report as a file, in a page that fails the test on any request, error or warning of its own.

    A logged message that holds the text `expected` is let pass.
    """
    taken, troubles = [], []

    def open_page(path: Path, *, fragment: str = "", viewport=WIDE, theme: str = "light", expected: str = ""):
        page, kind = pages.take(viewport, theme)
        own = path.resolve().as_uri()
        listeners = {
            "request": lambda request: _note_request(request.url, own, troubles),
            "console": lambda message: _note_message(message, expected, troubles),
            "pageerror": lambda error: troubles.append(f"error in the page: {error}"),
        }
        for event, listener in listeners.items():
            page.on(event, listener)
        taken.append((page, kind, listeners))
        page.goto(own + fragment)
        page.wait_for_selector("[role=tabpanel]")
        return page

    yield open_page
    for page, kind, listeners in taken:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        pages.give_back(page, kind)
    assert troubles == []


@pytest.fixture
def open_served(browser):
    """Opens a served page, which asks its own server only and logs nothing, else the test fails."""
    contexts, troubles = [], []

    def open_page(explorer):
        context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda asked: None if asked.url.startswith(explorer.url) else troubles.append(asked.url),
        )
        page.goto(explorer.url)
        page.wait_for_selector("[role=tabpanel]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def _note_request(url: str, own: str, troubles: list[str]) -> None:
    is_own = url.split("#")[0] == own
    # A download of what the page itself made.
    if not is_own and not url.startswith(("blob:", "data:")):
        troubles.append(f"request: {url}")


def _note_message(message, expected: str, troubles: list[str]) -> None:
    is_expected = expected and expected in message.text
    if message.type in ("error", "warning") and not is_expected:
        troubles.append(f"console {message.type}: {message.text}")


def check_accessibility(page) -> None:
    """Fail on any violation that axe-core finds."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    assert found == [], "\n".join(
        f"{violation['id']}: {violation['help']}: {node['html'][:200]} {node['failureSummary']}"
        for violation in found
        for node in violation["nodes"][:3]
    )


def settled_address(page) -> str:
    """Return the fragment of the address once the page has written its state there.

    It does so 150 ms after a change. Timers of a page fire in the order of their times, so that one which is
    set later and takes longer sees the result, however busy the machine is.
    """
    wait = "() => new Promise(done => setTimeout(() => done(location.hash), 400))"
    return page.evaluate(wait)


def view_tab(page, name: str):
    """Go to a view by its tab."""
    page.get_by_role("tab", name=name, exact=True).click()


def go(page, fragment: str) -> None:
    """Go to an address within the page, as a link does."""
    page.evaluate(
        """hash => new Promise(done => {
            addEventListener("hashchange", () => setTimeout(done), { once: true });
            location.hash = `${hash}&visit=${performance.now()}`;
        })""",
        fragment,
    )


def rows_in(page) -> list[int]:
    """The numbers of the rows in the page."""
    return page.evaluate("Array.from(window.clausewise.store.table.numbers)")


@pytest.fixture(scope="session")
def small_report(tmp_path_factory):
    """A report with everything: three classes, all kinds of features, rows, truth, network, frontier."""
    from clausewise import Frontier

    path = tmp_path_factory.mktemp("report") / "report.html"
    truth, network = reports.labels()
    curve = Frontier(np.array([1, 2, 4, 8]), np.array([[0.6, 0.7, 0.84, 0.84], [0.62, 0.74, 0.84, 0.841]]))
    reports.rules().report(
        path, reports.table(), truth, network, title="Who buys", max_rows=300, frontier=curve
    )
    return path


@pytest.fixture(scope="session")
def bare_report(tmp_path_factory):
    """Rules alone."""
    path = tmp_path_factory.mktemp("report") / "bare.html"
    reports.rules().report(path)
    return path


@pytest.fixture(scope="session")
def number_report(tmp_path_factory):
    """A report on rules for numbers with everything: rows, truth, network, frontier, origins."""
    path = tmp_path_factory.mktemp("numbers") / "report.html"
    truth, network = number_reports.numbers()
    number_reports.rules().report(
        path,
        number_reports.table(),
        truth,
        network,
        title="What houses cost",
        max_rows=200,
        frontier=number_reports.curve(),
        labels={"valley": "the valley"},
    )
    return path


@pytest.fixture(scope="package")
def shared_number_page(browser, number_report):
    """One page for all tests of it; it may send no request, and log no error."""
    troubles = []
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce", accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(15_000)
    own = number_report.resolve().as_uri()
    page.on("request", lambda request: _note_request(request.url, own, troubles))
    page.on("console", lambda message: _note_message(message, "", troubles))
    page.on("pageerror", lambda error: troubles.append(f"error in the page: {error}"))
    page.goto(own)
    page.wait_for_selector("[role=tabpanel]")
    yield page
    context.close()
    assert troubles == []


@pytest.fixture
def number_page(shared_number_page):
    """The shared page in its first state: no edit, no selection, the overview."""
    shared_number_page.evaluate(
        "() => { while (window.clausewise.store.canUndo.value) window.clausewise.store.undo(); }"
    )
    go(shared_number_page, "view=overview")
    return shared_number_page
