"""Readable JSON that can always be encoded as UTF-8."""

import json
from typing import Any


def json_text(value: Any, **options: Any) -> str:
    """Return JSON text with non-ASCII characters unescaped where possible; `options` go to `json.dumps`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **options)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can represent
        return json.dumps(value, allow_nan=False, **options)
    return text
