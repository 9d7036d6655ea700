"""The page: payload, script and style sheet in one HTML file that loads nothing else."""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from clausewise.base.json_text import json_text

# The page may not send requests, whatever the data contains (a served page may, to its own server), and only
# runs the script and style sheet with these hashes.
_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; "
    "connect-src {connect}; base-uri 'none'; form-action 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{generator}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report is drawn by a script inside this file; allow scripts to see it.</noscript>
<script type="application/json" id="clausewise-payload">{payload}</script>
<script>{script}</script>
</body>
</html>
"""


def page(payload: dict[str, Any]) -> str:
    """Return a self-contained HTML page that shows a payload (see `payload_of`).

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.report import page, payload_of
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> html = page(payload_of(rules, title="Credit risk"))
    >>> html.startswith("<!doctype html>"), "<title>Credit risk" in html
    (True, True)
    """
    return _PAGE.format(
        policy=escape(policy(is_served="served" in payload)),
        generator=escape(payload["created_with"]),
        title=escape(_valid_unicode(payload["title"])),
        style=_asset("explorer.css"),
        payload=as_script_data(payload),
        script=_asset("explorer.js"),
    )


def policy(*, is_served: bool) -> str:
    """Return the Content-Security-Policy of the page; a served page may connect to its own server only."""
    return _POLICY.format(
        script=_digest(_asset("explorer.js")),
        style=_digest(_asset("explorer.css")),
        connect="'self'" if is_served else "'none'",
    )


def as_script_data(payload: dict[str, Any]) -> str:
    """Return JSON that is safe inside a script element, whatever names it contains."""
    text = json_text(payload, separators=(",", ":"))
    # In JSON, "<" only occurs in strings; escaped, it cannot end the element or open a comment.
    return text.replace("<", "\\u003c")


def _valid_unicode(title: str) -> str:
    return title.encode("utf-8", "replace").decode("utf-8")


@cache
def _asset(name: str) -> str:
    path = files("clausewise.report").joinpath("assets", name)
    # As bytes, because translated line ends would change the hash.
    return path.read_bytes().decode("utf-8").rstrip("\n")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
