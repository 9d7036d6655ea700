"""JSON as people read it, which UTF-8 can hold whatever texts are in it."""

import json
from typing import Any


def json_text(value: Any, **options: Any) -> str:
    """JSON text with letters of all scripts as they are; options are those of `json.dumps`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **options)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot hold but an escape can
        return json.dumps(value, allow_nan=False, **options)
    return text
