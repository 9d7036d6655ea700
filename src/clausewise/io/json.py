"""Rule files in JSON: `save` and `load`, and `dumps` and `loads` for text.

The format is described in docs/rule-file-format.md and in the JSON Schemas next to this module. A file is
only data: nothing in it is executed. All of it is checked before a rule set is built, and anything wrong
raises a RuleFileError that says where the problem is and what was expected.

Rules for classes are version 1 of the format, as they always were, so that every version of clausewise reads
them; rules for numbers are version 2.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from clausewise.base.json_text import json_text
from clausewise.base.parameters import check_parameters, one_of, whole
from clausewise.io.atomic import write_atomically
from clausewise.io.classes import class_rule_entry, class_settings, read_classes
from clausewise.io.history import history_settings
from clausewise.io.numbers import number_rule_entry, number_settings, read_numbers
from clausewise.io.premises import change_entry, feature_entry
from clausewise.io.values import RuleFileError, shown
from clausewise.rules.regression import RegressionRules
from clausewise.rules.ruleset import RuleSet

AnyRules = RuleSet | RegressionRules

FORMAT: Final = "clausewise-rules"
MAX_BYTES: Final = 64 * 2**20
"""Larger files are refused unless the caller allows more. A rule takes about 150 bytes."""

# The format nests 6 levels. The depth is checked before parsing, because the parser recurses.
_MAX_DEPTH: Final = 16
_MAX_REASON: Final = 1_000


def schema(version: int = 1) -> dict[str, Any]:
    """Return the JSON Schema of rule files: version 1 is for classes, version 2 for numbers."""
    check_parameters({"version": one_of(*_SCHEMAS)}, {"version": version})
    found = _schema_file(_SCHEMAS[version])
    if version > 1:  # what both share is in version 1, which is made a part of the document
        found["$defs"]["version 1"] = _schema_file(_SCHEMAS[1])
    return found


def _schema_file(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(files("clausewise.io").joinpath(name).read_text(encoding="utf-8"))
    return parsed


_SCHEMAS: Final = {1: "rules.schema.json", 2: "numbers.schema.json"}


def save(rules: AnyRules, path: str | os.PathLike[str]) -> None:
    """Write a rule set to a file; an interrupted save leaves the old file as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clausewise import RuleSet
    >>> from clausewise.io import load, save
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(rules, Path(folder) / "rules.json")  # as rules.save(path)
    ...     load(Path(folder) / "rules.json") == rules
    True
    """
    write_atomically(path, dumps(rules).encode("utf-8"))


def load_any(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> AnyRules:
    """Read a rule set of any kind from a file.

    Parameters
    ----------
    path : path-like
        A file written by `save`.
    max_bytes : int, default 67108864
        Larger files are refused before they are parsed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clausewise import RuleSet
    >>> from clausewise.io import load_any
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules.save(Path(folder) / "rules.json")
    ...     print(type(load_any(Path(folder) / "rules.json")).__name__)
    RuleSet
    """
    check_parameters({"max_bytes": whole(1)}, {"max_bytes": max_bytes})
    with Path(path).open("rb") as file:
        data = file.read(max_bytes + 1)  # not by its size: a pipe has none
    if len(data) > max_bytes:
        raise RuleFileError(
            f"{path} has more than {max_bytes:,} bytes; if you trust it, pass a larger max_bytes."
        )
    return loads_any(data, source=str(path))


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> RuleSet:
    """Read a rule set for classes from a file; see `load_any`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clausewise import RuleSet
    >>> from clausewise.io import load
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules.save(Path(folder) / "rules.json")
    ...     print(load(Path(folder) / "rules.json"))  # as RuleSet.load(path)
    1 rule for the classes high, low; voting confidence, otherwise low
    0  IF age > 50 THEN high   (confidence 1.00)
    """
    return _of_classes(load_any(path, max_bytes=max_bytes), str(path))


def load_numbers(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> RegressionRules:
    """Read a rule set for numbers from a file; see `load_any`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clausewise import RegressionRules
    >>> from clausewise.io import load_numbers
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules.save(Path(folder) / "rules.json")
    ...     print(load_numbers(Path(folder) / "rules.json"))  # as RegressionRules.load(path)
    1 rule for a number; start at 1.5 and add
    0  IF rooms > 4 THEN +0.7
    """
    return _of_numbers(load_any(path, max_bytes=max_bytes), str(path))


# --- Writing ---


def dumps(rules: AnyRules) -> str:
    """Return a rule set as JSON text, one rule per line, so that line-based tools can compare versions.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.io import dumps, loads
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> text = dumps(rules)
    >>> loads(text) == rules
    True
    """
    if isinstance(rules, RegressionRules):
        entries = [number_rule_entry(rules, number) for number in range(len(rules))]
        return _text(rules, {"version": 2, **number_settings(rules)}, entries)
    entries = [class_rule_entry(rules, number) for number in range(len(rules))]
    return _text(rules, {"version": 1, **class_settings(rules)}, entries)


def _text(rules: AnyRules, settings: dict[str, Any], rule_entries: list[dict[str, Any]]) -> str:
    head = {"format": FORMAT, **settings}
    lines = [f"  {json_text(key)}: {json_text(value)}," for key, value in head.items()]
    lists = [
        _json_list("features", [feature_entry(rules.features, i) for i in range(len(rules.features))]),
        _json_list("rules", rule_entries),
    ]
    if rules.changes:
        lists.append(_json_list("changes", [change_entry(change) for change in rules.changes]))
    # Last, because the record of rows may be long and is nothing to read.
    lists += [f'  "{key}": {json_text(value)}' for key, value in history_settings(rules).items()]
    return "\n".join(["{", *lines, ",\n".join(lists), "}", ""])


def _json_list(key: str, entries: Sequence[dict[str, Any]]) -> str:
    if not entries:
        return f'  "{key}": []'
    lines = ",\n".join(f"    {json_text(entry)}" for entry in entries)
    return f'  "{key}": [\n{lines}\n  ]'


# --- Reading ---


def loads(data: str | bytes, source: str = "The text") -> RuleSet:
    """Read a rule set for classes from JSON text; errors refer to it as `source`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.io import dumps, loads
    >>> text = dumps(RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low"))
    >>> print(loads(text))
    1 rule for the classes high, low; voting confidence, otherwise low
    0  IF age > 50 THEN high   (confidence 1.00)
    """
    return _of_classes(loads_any(data, source), source)


def loads_numbers(data: str | bytes, source: str = "The text") -> RegressionRules:
    """Read a rule set for numbers from JSON text; errors refer to it as `source`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.io import dumps, loads_numbers
    >>> text = dumps(RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"]))
    >>> print(loads_numbers(text))
    1 rule for a number; start at 1.5 and add
    0  IF rooms > 4 THEN +0.7
    """
    return _of_numbers(loads_any(data, source), source)


def _of_numbers(rules: AnyRules, source: str) -> RegressionRules:
    if isinstance(rules, RegressionRules):
        return rules
    raise RuleFileError(f"{source}: these are rules for classes; read them with RuleSet.load.")


def _of_classes(rules: AnyRules, source: str) -> RuleSet:
    if isinstance(rules, RuleSet):
        return rules
    raise RuleFileError(f"{source}: these are rules for numbers; read them with RegressionRules.load.")


def loads_any(data: str | bytes, source: str = "The text") -> AnyRules:
    """Read a rule set of any kind from JSON text; errors refer to it as `source`.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.io import dumps, loads_any
    >>> text = dumps(RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"]))
    >>> type(loads_any(text)).__name__
    'RegressionRules'
    """
    try:
        return _read(_parsed(data))
    except RuleFileError as error:
        raise RuleFileError(f"{source}: {error}") from error.__cause__
    except ValueError as error:  # raised by the rule set itself
        reason = str(error)  # may repeat names of several megabytes
        shown_reason = reason if len(reason) <= _MAX_REASON else f"{reason[:_MAX_REASON]}…"
        raise RuleFileError(f"{source}: {shown_reason}") from error


def _parsed(data: str | bytes) -> Any:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RuleFileError(
            f"byte {error.start} is not UTF-8; this is not a rule file, or it is damaged."
        ) from error
    if _depth(raw) > _MAX_DEPTH:
        raise RuleFileError(f"brackets are nested more than {_MAX_DEPTH} deep; this is not a rule file.")
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise RuleFileError(
            f"line {error.lineno}, column {error.colno}: {error.msg}; the file is damaged or cut off."
        ) from error
    except RuleFileError:
        raise
    except ValueError as error:  # Python refuses to read whole numbers of thousands of digits
        raise RuleFileError("a number has thousands of digits; this is not a rule file.") from error
    except RecursionError as error:  # pragma: no cover - the depth is checked above
        raise RuleFileError("brackets are nested too deep; this is not a rule file.") from error


def _depth(raw: bytes) -> int:
    """Return the nesting depth of brackets. Brackets in texts are only removed if they could matter."""
    depth = _bracket_depth(raw)
    return (
        depth
        if depth <= _MAX_DEPTH
        else _bracket_depth(re.sub(rb'"(?:[^"\\]|\\.)*"', b"", raw, flags=re.DOTALL))
    )


def _bracket_depth(raw: bytes) -> int:
    symbols = np.frombuffer(raw, dtype=np.uint8)
    is_open = (symbols == ord("[")) | (symbols == ord("{"))
    is_bracket = is_open | (symbols == ord("]")) | (symbols == ord("}"))
    return int(np.cumsum(np.where(is_open[is_bracket], 1, -1)).max(initial=0))


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise RuleFileError(f"the key {shown(twice)} appears twice in one object.")
    return entry


def _refuse_constant(name: str) -> NoReturn:
    raise RuleFileError(f"{name} is not JSON and not a threshold; leave out an open end, or write null.")


def _read(parsed: Any) -> AnyRules:
    if not isinstance(parsed, dict) or parsed.get("format") != FORMAT:
        raise RuleFileError(f'this is not a rule file; expected an object with "format": "{FORMAT}".')
    return _READERS[_checked_version(parsed.get("version"))](parsed)


_READERS: Final[Mapping[int, Callable[[dict[str, Any]], AnyRules]]] = {1: read_classes, 2: read_numbers}


def _checked_version(version: Any) -> int:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise RuleFileError(f"version is {shown(version)}; expected a whole number of 1 or more.")
    newest = max(_READERS)
    if version > newest:
        raise RuleFileError(
            f"the file has version {shown(version)}, but this clausewise reads versions up to {newest}; "
            "upgrade clausewise."
        )
    return version
