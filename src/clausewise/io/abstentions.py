"""Abstention in JSON: the margin, the label of rows that are not decided, and what was promised."""

from typing import Any

from clausewise.io.history import (
    count_entry,
    read_count,
    read_digest,
    read_notes,
    read_probability,
    read_whole,
)
from clausewise.io.values import finite_number, json_number, json_object, scalar
from clausewise.rules.abstention import Abstention, SelectivePromise


def abstention_entry(abstention: Abstention, promise: SelectivePromise | None) -> dict[str, Any]:
    """Return an abstention as it is written, with its promise if that is about the rules as they are."""
    entry = {"margin": json_number(abstention.margin), "label": abstention.label}
    if promise is None:
        return entry
    promised: dict[str, Any] = {
        "agreement": json_number(promise.agreement),
        "confidence": json_number(promise.confidence),
        "rows": promise.n_rows,
        "decided": count_entry(promise.decided),
        "digest": promise.digest,
    }
    return entry | {"promise": promised | ({"notes": list(promise.notes)} if promise.notes else {})}


def read_abstention(value: Any) -> Abstention:
    """Read an abstention."""
    where = "abstention"
    fields = json_object(value, where, ("margin", "label"), ("promise",))
    margin = finite_number(fields["margin"], f"{where}.margin")
    label = scalar(fields["label"], f"{where}.label")
    promise = _read_promise(fields["promise"], f"{where}.promise") if "promise" in fields else None
    return Abstention(margin, label, promise)


def _read_promise(value: Any, where: str) -> SelectivePromise:
    required = ("agreement", "confidence", "rows", "decided", "digest")
    fields = json_object(value, where, required, ("notes",))
    return SelectivePromise(
        agreement=read_probability(fields["agreement"], f"{where}.agreement"),
        confidence=read_probability(fields["confidence"], f"{where}.confidence"),
        n_rows=read_whole(fields["rows"], f"{where}.rows", least=1),
        decided=read_count(fields["decided"], f"{where}.decided"),
        digest=read_digest(fields["digest"], f"{where}.digest"),
        notes=read_notes(fields, where),
    )
