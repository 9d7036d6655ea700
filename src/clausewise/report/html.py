"""The page: the payload, the script and the style sheet in one file that asks nobody for anything."""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from clausewise.base.json_text import json_text

# No request may leave the page, whatever is in the data (a served one may ask its own server); scripts and
# styles are those with these hashes.
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
    """A self-contained HTML page that shows a payload (see `payload_of`)."""
    return _PAGE.format(
        policy=escape(policy(is_served="served" in payload)),
        generator=escape(payload["created_with"]),
        title=escape(_shown(payload["title"])),
        style=_asset("explorer.css"),
        payload=as_script_data(payload),
        script=_asset("explorer.js"),
    )


def policy(*, is_served: bool) -> str:
    """The Content-Security-Policy of the page, which asks the server that it came from, or nobody."""
    return _POLICY.format(
        script=_digest(_asset("explorer.js")),
        style=_digest(_asset("explorer.css")),
        connect="'self'" if is_served else "'none'",
    )


def as_script_data(payload: dict[str, Any]) -> str:
    """JSON that can stand inside a script element, whatever the names in it."""
    text = json_text(payload, separators=(",", ":"))
    # In JSON this sign stands in texts only; escaped, nothing ends the element or opens a comment.
    return text.replace("<", "\\u003c")


def _shown(title: str) -> str:
    return title.encode("utf-8", "replace").decode("utf-8")


@cache
def _asset(name: str) -> str:
    path = files("clausewise.report").joinpath("assets", name)
    # As bytes: a translated line end would change the hash.
    return path.read_bytes().decode("utf-8").rstrip("\n")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
