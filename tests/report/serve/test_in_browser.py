"""A served page works in a browser, and other sites in the same browser get no response."""

import json
import webbrowser

import numpy as np
import pytest

from clausewise.io.json import dumps
from clausewise.report import Explorer
from tests.report.conftest import WIDE, check_accessibility
from tests.report.serve.client import MEASURES, PREDICT, a_network, send


@pytest.fixture
def open_served(browser):
    """Return a function that opens a served page; console output and errors of the page fail the test."""
    contexts, troubles, asked = [], [], []

    def open_page(url):
        context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("request", lambda request: asked.append((request.method, request.url)))
        page.on("console", lambda message: troubles.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error in the page: {error}"))
        page.goto(url)
        page.wait_for_selector("[role=tabpanel]")
        return page, asked

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


ASK = """async ([path, request]) => {
    const answer = await fetch(path, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request),
    });
    return [answer.status, await answer.json()];
}"""


def test_the_page_works_and_only_connects_to_its_own_server(explorer, open_served, people, rules):
    X, y, network = people
    page, asked = open_served(explorer.url)
    assert page.title().startswith("People")
    assert page.evaluate("() => window.clausewise.store.payload.served.n_total") == 300
    check_accessibility(page)
    status, found = page.evaluate(ASK, [PREDICT, {"rows": X.iloc[:5].to_numpy(dtype=object).tolist()}])
    assert (status, found["labels"]) == (200, network.labels(X.iloc[:5]).tolist())
    status, found = page.evaluate(ASK, [MEASURES, {"rules": json.loads(dumps(rules[:1]))}])
    assert (status, found["accuracy"]) == (200, rules[:1].evaluate(X, y).accuracy)
    assert asked == [
        ("GET", explorer.url),
        ("POST", explorer.url + PREDICT),
        ("POST", explorer.url + MEASURES),
    ]


def test_a_ticket_leads_a_browser_to_the_page(explorer, open_served, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    explorer.open_browser()
    page, _ = open_served(opened[0])
    assert page.url.split("#")[0] == explorer.url


def test_another_site_in_the_same_browser_gets_no_response(browser, numbers):
    asked = []

    def answer(rows):
        asked.append(rows)
        return np.where(rows[:, 0] > 0, "b", "a")

    context = browser.new_context()
    site = "http://evil.example/"
    context.route(site, lambda route: route.fulfill(body="<p>hello", content_type="text/html"))
    try:
        with Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer:
            n_before = len(asked)
            page = context.new_page()
            page.goto(site)
            # With the API's content type, the browser sends a preflight request; with others, it does not.
            for options in ("headers: { 'Content-Type': 'application/json' }", "mode: 'no-cors'"):
                script = f"""url => fetch(url, {{ method: "POST", body: '{{"rows": [[1]]}}', {options} }})
                    .then(() => "answered", String)"""
                assert page.evaluate(script, explorer.url + PREDICT) == "TypeError: Failed to fetch"
            assert len(asked) == n_before
            page.evaluate(
                """url => new Promise((resolve) => document.body.append(
                    Object.assign(document.createElement("iframe"), { src: url, onload: resolve })))""",
                explorer.url,
            )
            assert [frame.query_selector("[role=tabpanel]") for frame in page.frames[1:]] == [None]
            assert send(explorer, PREDICT, '{"rows": [[1]]}')[0] == 200
            assert len(asked) > n_before
    finally:
        context.close()
