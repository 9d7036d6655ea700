"""What a rule file says about how its rules came to be: edits, rows that were learnt from, a guarantee.

All of it is optional, for rules of any kind. Of a guarantee, the file holds what was counted; the intervals
follow from the counts.
"""

import base64
import binascii
import string
from dataclasses import replace
from typing import Any, Final, TypeVar

from clausewise.data.learnt_rows import LearntRows
from clausewise.io.premises import read_change
from clausewise.io.values import (
    RuleFileError,
    finite_number,
    json_array,
    json_number,
    json_object,
    json_string,
    one_of,
    scalar,
    shown,
)
from clausewise.rules.guarantee import Count, Guarantee
from clausewise.rules.stored import StoredRules

HISTORY: Final = ("changes", "learnt_rows", "guarantee")
"""The keys of a file that are read here."""

_METHOD: Final = "clopper-pearson"

_Rules = TypeVar("_Rules", bound=StoredRules[Any])


# --- Writing ---


def history_settings(rules: StoredRules[Any]) -> dict[str, Any]:
    """Return what a file says about guarantee and rows, after its rules."""
    settings: dict[str, Any] = {}
    if rules.guaranteed is not None:
        settings["guarantee"] = _guarantee_entry(rules.guaranteed)
    if rules.learnt_rows is not None:
        settings["learnt_rows"] = _learnt_entry(rules.learnt_rows)
    return settings


def _learnt_entry(learnt: LearntRows) -> dict[str, Any]:
    raw, width = learnt.to_bytes()
    steps = base64.b64encode(raw).decode("ascii")
    return {"skipped_bits": learnt.n_skipped_bits, "step_bytes": width, "steps": steps}


def _guarantee_entry(guarantee: Guarantee) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "method": _METHOD,
        "confidence": json_number(guarantee.confidence),
        "rows": count_entry(guarantee.whole),
        "baseline": guarantee.n_baseline,
        "classes": [[label, *count_entry(count)] for label, count in guarantee.of_classes],
        "rules": [count_entry(count) for count in guarantee.of_rules],
        "digest": guarantee.digest,
    }
    if guarantee.tolerance is not None:
        entry["tolerance"] = json_number(guarantee.tolerance)
    if guarantee.n_abstained:
        entry["abstained"] = guarantee.n_abstained
    if guarantee.notes:
        entry["notes"] = list(guarantee.notes)
    return entry


def count_entry(count: Count) -> list[int]:
    """Return a count as it is written."""
    return [count.n_rows, count.n_agreeing]


# --- Reading ---


def with_history(rules: _Rules, top: dict[str, Any]) -> _Rules:
    """Return the rules with the edits, the record of rows and the guarantee of a parsed file."""
    changes = tuple(
        read_change(entry, f"changes[{i}]")
        for i, entry in enumerate(json_array(top.get("changes", []), "changes"))
    )
    learnt = None if "learnt_rows" not in top else _read_learnt(top["learnt_rows"])
    guarantee = None if "guarantee" not in top else _read_guarantee(top["guarantee"])
    return replace(rules, changes=changes, learnt_rows=learnt, last_guarantee=guarantee)


def _read_learnt(value: Any) -> LearntRows:
    where = "learnt_rows"
    fields = json_object(value, where, ("skipped_bits", "step_bytes", "steps"))
    text = json_string(fields["steps"], f"{where}.steps")
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RuleFileError(f"{where}.steps is not base64; the file is damaged.") from error
    width, n_skipped = (read_whole(fields[key], f"{where}.{key}") for key in ("step_bytes", "skipped_bits"))
    try:
        return LearntRows.from_bytes(raw, width, n_skipped)
    except ValueError as error:
        raise RuleFileError(f"{where}: {error}") from error


def _read_guarantee(value: Any) -> Guarantee:
    where = "guarantee"
    required = ("method", "confidence", "rows", "baseline", "classes", "rules", "digest")
    fields = json_object(value, where, required, ("tolerance", "abstained", "notes"))
    one_of(fields["method"], f"{where}.method", (_METHOD,))
    whole = read_count(fields["rows"], f"{where}.rows")
    tolerance = fields.get("tolerance")
    return Guarantee(
        confidence=read_probability(fields["confidence"], f"{where}.confidence"),
        whole=whole,
        n_baseline=read_count([whole.n_rows, fields["baseline"]], f"{where}.baseline").n_agreeing,
        of_classes=tuple(
            (scalar(label, f"{where}.classes[{i}]"), read_count(count, f"{where}.classes[{i}]"))
            for i, (label, *count) in enumerate(_lists(fields["classes"], f"{where}.classes"))
        ),
        of_rules=tuple(
            read_count(count, f"{where}.rules[{i}]")
            for i, count in enumerate(_lists(fields["rules"], f"{where}.rules"))
        ),
        digest=read_digest(fields["digest"], f"{where}.digest"),
        tolerance=None if tolerance is None else finite_number(tolerance, f"{where}.tolerance"),
        n_abstained=read_whole(fields.get("abstained", 0), f"{where}.abstained"),
        notes=read_notes(fields, where),
    )


def _lists(value: Any, where: str) -> list[list[Any]]:
    lists = [json_array(entry, f"{where}[{i}]") for i, entry in enumerate(json_array(value, where))]
    for i, entry in enumerate(lists):
        if not entry:
            raise RuleFileError(f"{where}[{i}] is empty.")
    return lists


def read_notes(fields: dict[str, Any], where: str) -> tuple[str, ...]:
    """Read the notes of an entry, if it has some."""
    notes = json_array(fields.get("notes", []), f"{where}.notes")
    return tuple(json_string(note, f"{where}.notes[{i}]") for i, note in enumerate(notes))


def read_probability(value: Any, where: str) -> float:
    """Read a number between 0 and 1."""
    found = finite_number(value, where)
    if not 0 < found < 1:
        raise RuleFileError(f"{where} is {found}; expected a number between 0 and 1.")
    return found


def read_count(value: Any, where: str) -> Count:
    """Read a number of rows, and how many of them agree."""
    numbers = [read_whole(number, where) for number in json_array(value, where)]
    if len(numbers) != 2 or numbers[1] > numbers[0]:
        raise RuleFileError(f"{where} is not a count; expected a number of rows and how many of them agree.")
    return Count(*numbers)


def read_whole(value: Any, where: str, least: int = 0) -> int:
    """Read a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**53:
        raise RuleFileError(f"{where} is {shown(value)}; expected a whole number of {least} or more.")
    return value


def read_digest(value: Any, where: str) -> str:
    """Read what stands for rules, `RuleSet.digest`."""
    text = json_string(value, where)
    if len(text) != 64 or not set(text) <= set(string.hexdigits.lower()):
        raise RuleFileError(f"{where} is {shown(text)}; expected 64 hexadecimal digits.")
    return text
