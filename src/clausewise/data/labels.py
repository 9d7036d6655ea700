"""Class labels: valid labels, matching labels to classes, and the one reader of labels from callers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.counts import count_of
from clausewise.data.table import is_missing, unmasked

Label = str | int | float | bool
"""A class label. Other kinds of conclusions (numbers, for regression) could be added here."""

_SHOWN = 8
"""Error messages list at most this many labels or classes."""


class LabelError(ValueError):
    """Labels do not belong to the classes, are missing, or do not match the rows."""


def plain_label(label: Any) -> Label:
    """Return the label as a plain Python value; raise unless it is text, a finite number or a boolean."""
    plain = label.item() if hasattr(label, "item") else label
    if not isinstance(plain, str | int | float):
        raise TypeError(f"{label!r} is not a class label; labels are text, numbers or booleans.")
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"{label!r} is not a class label; labels must be finite.")
    return plain


def as_classes(classes: ArrayLike) -> NDArray[Any]:
    """Return distinct labels of one kind (text, numbers or booleans) as a read-only array."""
    given = np.asarray(classes, dtype=object) if not isinstance(classes, np.ndarray) else classes
    if given.ndim != 1 or len(given) == 0:
        raise ValueError(f"classes has shape {given.shape}; expected a list of at least one label.")
    labels = [plain_label(label) for label in given]
    kinds = {label_kind(label) for label in labels}
    if len(kinds) > 1:
        raise ValueError(
            f"The classes {labels[:5]} mix text, numbers or booleans; labels must be of one kind."
        )
    if len(set(labels)) != len(labels):
        raise ValueError(f"The classes {labels[:10]} are not all different.")
    keeps_type = isinstance(classes, np.ndarray) and (classes.dtype != object or kinds == {str})
    # NumPy's own text type drops trailing NULs.
    ends_in_nul = any(isinstance(label, str) and label.endswith("\0") for label in labels)
    array = given.copy() if keeps_type else np.array(labels, dtype=object if ends_in_nul else None)
    if array.dtype == object and kinds != {str}:
        raise ValueError(f"The classes {labels[:5]} include a number too large for an array.")
    array.setflags(write=False)
    return array


def class_meant(label: Label, classes: Sequence[Label]) -> int | None:
    """Return the position of the class that a label means, or None.

    A label of the classes' own kind means the class it equals. Otherwise "1", 1.0 and True mean the class 1,
    1 and "true" the class True, 1 and True the class "1" (or "true").
    """
    if label_kind(label) is label_kind(classes[0]):
        return next((position for position, known in enumerate(classes) if known == label), None)
    return next((position for position, known in enumerate(classes) if _reads_as(label, known)), None)


def known_label(label: Any, classes: ArrayLike) -> Label:
    """Return the class that one label means, or raise an error that lists the classes."""
    known = np.asarray(classes).tolist()
    position = class_meant(plain_label(label), known)
    if position is None:
        raise LabelError(f"{label!r} is not one of the classes {_listed(known)}.")
    return known[position]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Labels:
    """One label per row: `codes` are positions in `classes` followed by `unknown`.

    Attributes
    ----------
    codes : ndarray of int64, of shape (n_rows,)
        Positions of the labels.
    classes : tuple of class labels
        The classes of the rules.
    unknown : tuple of class labels
        Labels that do not mean any of the classes; empty unless they were allowed.
    """

    codes: NDArray[np.int64]
    classes: tuple[Label, ...]
    unknown: tuple[Label, ...]

    @property
    def labels(self) -> tuple[Label, ...]:
        """The label of each code."""
        return (*self.classes, *self.unknown)

    @property
    def values(self) -> NDArray[Any]:
        """The label of each row, as the class that it means."""
        return np.array(self.labels)[self.codes]


def read_labels(
    values: Any,
    classes: Sequence[Label],
    n_rows: int,
    name: str,
    *,
    allow_unknown: bool = False,
) -> Labels:
    """Read one label per row, matching each to the class that it means.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        The labels.
    classes : sequence of class labels
        The known classes.
    n_rows : int
        The number of rows that the labels belong to.
    name : str
        The parameter's name, for error messages.
    allow_unknown : bool, default False
        Accept unknown labels as long as at least one label means a known class: true classes may include
        some that the rules never predict. Unknown labels are converted to the kind of the classes if possible
        ("2" to 2 if the classes are 0 and 1, and 2 to "2" if they are "0" and "1").

    Raises
    ------
    LabelError
        If the shape is wrong, labels are missing, or labels do not mean any of the classes.
    """
    array = labels_array(values, name)
    if array.shape != (n_rows,):
        raise LabelError(f"{name} has shape {array.shape} for {n_rows:,} rows; pass one label per row.")
    given, positions = _distinct(array, name)
    distinct = [_as_kind_of_classes(label, classes) for label in given]
    equal = {(label_kind(label), label): code for code, label in enumerate(classes)}
    code_of_label = [
        # A lookup where possible, since there may be thousands of classes.
        equal.get((label_kind(label), label))
        if label_kind(label) is label_kind(classes[0])
        else class_meant(label, classes)
        for label in distinct
    ]
    # Deduplicated, since "2" and "2.0" are the same label when read as numbers.
    unknown = list(
        dict.fromkeys(label for label, code in zip(distinct, code_of_label, strict=True) if code is None)
    )
    if unknown and not (allow_unknown and _can_be_classes(unknown, distinct, classes)):
        as_given = [label for label, code in zip(given, code_of_label, strict=True) if code is None]
        raise LabelError(f"{describe_unknown(as_given, classes, name)}; pass labels of these classes.")
    code_of_unknown = {label: len(classes) + number for number, label in enumerate(unknown)}
    codes = [
        code_of_unknown[label] if code is None else code
        for label, code in zip(distinct, code_of_label, strict=True)
    ]
    return Labels(np.array(codes, dtype=np.int64)[positions], tuple(classes), tuple(unknown))


def describe_unknown(unknown: Sequence[Label], classes: Sequence[Label], name: str) -> str:
    """Return a clause that names unknown labels and the classes, for errors and warnings."""
    verb = "is" if len(unknown) == 1 else "are"
    return f"{name} holds {_listed(unknown)}, which {verb} not among the classes {_listed(classes)}"


def labels_array(values: Any, name: str) -> NDArray[Any]:
    """Return a sequence of labels as an array, or raise an error that names the parameter.

    Masked entries become missing.
    """
    if hasattr(values, "predict"):
        raise LabelError(f"{name} is a {type(values).__name__}; pass labels here, and a model as network=.")
    try:
        return np.asarray(unmasked(values))
    except ValueError as error:
        raise LabelError(f"{name} is not one label per row: {error}") from None


def require_no_missing(labels: NDArray[Any], name: str) -> None:
    """Raise a LabelError if labels, or numbers to predict, are missing."""
    if labels.dtype.kind == "f":
        _require_none_missing(int(np.isnan(labels).sum()), name)
    elif labels.dtype == object:
        _require_none_missing(sum(map(is_missing, labels.ravel().tolist())), name)


def _require_none_missing(n_missing: int, name: str) -> None:
    if n_missing:
        labels = count_of(n_missing, "missing label")
        raise LabelError(f"{name} has {labels}; drop these rows or fill them in.")


def _distinct(array: NDArray[Any], name: str) -> tuple[list[Label], NDArray[np.intp]]:
    """Return the distinct labels as plain values, and each row's position among them."""
    if array.dtype != object:
        values, positions = np.unique(array, return_inverse=True)
        found = values.tolist()
    else:
        position_of: dict[Any, int] = {}
        try:
            listed = [
                # Keep True and 1 apart, which Python treats as equal.
                position_of.setdefault((isinstance(value, bool), value), len(position_of))
                for value in array.tolist()
            ]
        except TypeError:
            raise LabelError(f"{name} holds values that are not class labels, such as lists.") from None
        positions = np.array(listed, dtype=np.intp)
        found = [value for _, value in position_of]
    missing = np.array([is_missing(value) for value in found], dtype=bool)
    _require_none_missing(int(missing[positions].sum()), name)
    try:
        return [plain_label(label) for label in found], positions
    except (TypeError, ValueError) as error:
        raise LabelError(f"{name}: {error}") from None


def _can_be_classes(unknown: Sequence[Label], given: Sequence[Label], classes: Sequence[Label]) -> bool:
    """Return whether unknown labels could be further classes, rather than labels of something else."""
    return len(unknown) < len(given) and all(label_kind(label) is label_kind(classes[0]) for label in unknown)


def _as_kind_of_classes(label: Label, classes: Sequence[Label]) -> Label:
    """Return a label that is not a known class in the kind of the classes if possible; others unchanged."""
    kind = label_kind(classes[0])
    if kind is label_kind(label) or class_meant(label, classes) is not None:
        return label
    if kind is str:
        return str(label)
    if kind is float and isinstance(label, str):
        return _number_in(label)
    return label


def _number_in(text: str) -> int | float | str:
    """Return the finite number that a text spells, or the text."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    try:
        return int(text)
    except ValueError:
        return number


def label_kind(label: Label) -> type:
    """Return the kind of a label (text, boolean or number); 1 and 1.0 have the same kind, 1 and True not."""
    return str if isinstance(label, str) else bool if isinstance(label, bool) else float


def _reads_as(label: Label, known: Label) -> bool:
    """Return whether a label of another kind means this class."""
    if isinstance(label, str) or isinstance(known, str):
        text, other = (label, known) if isinstance(label, str) else (known, label)
        return _text_reads_as(str(text), other)
    return float(label) == float(known)  # booleans and numbers


def _text_reads_as(text: str, value: Label) -> bool:
    if isinstance(value, bool) and text.strip().lower() == str(value).lower():
        return True
    try:
        return float(text) == value
    except ValueError:
        return False


def _listed(labels: Sequence[Label]) -> str:
    shown = ", ".join(map(repr, labels[:_SHOWN]))
    return shown if len(labels) <= _SHOWN else f"{shown} and {len(labels) - _SHOWN} more"
