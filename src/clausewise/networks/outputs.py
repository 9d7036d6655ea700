"""Reading classes from the numbers of a network's output."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from clausewise.base.parameters import ARRAY_LIKE, FUNCTION, NOTHING, Constraint, one_of
from clausewise.networks.protocol import OutputForm

Output = OutputForm | Sequence[float] | Callable[[NDArray[Any]], NDArray[Any]] | None
"""The values of `output=`, the meaning of the output; None to recognise it. See `wrap`."""


def _are_cut_points(value: Any) -> bool:
    if not ARRAY_LIKE.allows(value):
        return False
    try:
        cuts = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    is_list = cuts.ndim == 1 and len(cuts) > 0
    return is_list and bool(np.isfinite(cuts).all() and (np.diff(cuts) > 0).all())


_STATED_FORM: Final = one_of("logits", "probabilities", "sigmoids", "labels", "number")
_CUT_POINTS: Final = Constraint("finite cut points in ascending order", _are_cut_points)
OUTPUT_MEANING: Final = Constraint(
    f"{_STATED_FORM.expected}, {_CUT_POINTS.expected}, or a function that returns probabilities",
    (_STATED_FORM | _CUT_POINTS | FUNCTION | NOTHING).allows,
)

# For sums of single-precision probabilities, also after a round trip through half precision.
_TOLERANCE = 5e-3


@dataclass(frozen=True)
class OutputReader:
    """Turns output numbers into classes.

    Attributes
    ----------
    form : OutputForm
        The meaning of the numbers.
    n_columns : int
        Number of output columns.
    cut_points : tuple of float
        The bounds between classes of a regression estimate; empty for a classifier.
    convert : callable, optional
        The caller's function from outputs to probabilities, applied first.
    threshold : float
        A single output column predicts the second class if its probability is above this.
    """

    form: OutputForm
    n_columns: int
    cut_points: tuple[float, ...] = ()
    convert: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    threshold: float = 0.5

    @property
    def n_classes(self) -> int | None:
        """Number of classes, or None if the output does not determine it."""
        if self.cut_points:
            return len(self.cut_points) + 1
        if self.form == "predictions":
            return self.n_columns - 1
        return None if self.form == "labels" else max(self.n_columns, 2)

    def codes(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """Return the position of each row's class; ties go to the first class."""
        if self.form in ("labels", "predictions"):
            return self._as_labels(values)
        if self.n_columns == 1:
            threshold = logit(self.threshold) if self.form == "logits" else self.threshold
            return np.asarray(self._checked(values)[:, 0] > threshold, dtype=np.int32)
        return np.asarray(self._checked(values).argmax(axis=1), dtype=np.int32)

    def probabilities(self, values: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
        """Return one column of probabilities per class; rows sum to 1."""
        if self.form == "labels":
            return np.asarray(np.eye(n_classes)[self._as_labels(values)])
        if self.form == "predictions":
            values = values[:, 1:]
        numbers = self._checked(values).astype(np.float64)
        if self.form == "logits":
            numbers = expit(numbers) if self.n_columns == 1 else softmax(numbers, axis=1)
        if self.n_columns == 1:
            numbers = np.hstack([1.0 - numbers, numbers])
        total = numbers.sum(axis=1, keepdims=True)
        even = np.full_like(numbers, 1 / n_classes)
        return np.asarray(np.divide(numbers, total, out=even, where=total > 0))

    def read(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the outputs of some rows as a matrix, after conversion or cutting into classes."""
        if self.convert is not None:
            values = np.asarray(self.convert(values))
        values = values[:, None] if values.ndim == 1 else values
        if self.cut_points:
            return np.searchsorted(np.asarray(self.cut_points), values)
        return values

    def _as_labels(self, values: NDArray[Any]) -> NDArray[np.int32]:
        return values[:, 0].astype(np.int32)

    def _checked(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.form != "logits":
            outside = (values < -_TOLERANCE) | (values > 1 + _TOLERANCE)
            if outside.any():
                raise ValueError(
                    f"The network's output is not a class distribution: it contains "
                    f"{values[outside][0]:.6g}, but probabilities are between 0 and 1. {_STATE_OUTPUT}"
                )
        if self.form == "probabilities" and self.n_columns > 1:
            wrong = np.abs(values.sum(axis=1, dtype=np.float64) - 1) > _TOLERANCE
            if wrong.any():
                raise ValueError(
                    f"The network's output is not a class distribution: {int(wrong.sum()):,} of "
                    f"{len(values):,} rows do not sum to 1 (one sums to {values[wrong][0].sum():.6g}). "
                    f"{_STATE_OUTPUT}"
                )
        return values


_STATE_OUTPUT = (
    "State what it is: output='logits', 'probabilities', 'sigmoids' (an independent probability per class), "
    "a list of cut points for a regression network, or a function that returns probabilities."
)


def read_as(
    output: Output, known: OutputForm | None, sample: NDArray[Any], threshold: float = 0.5
) -> OutputReader:
    """Return a reader of the output: as stated, else as the network defines it, else as the numbers suggest.

    Parameters
    ----------
    output : Output
        The meaning that the caller states, allowed by `OUTPUT_MEANING`.
    known : OutputForm or None
        The meaning that the network's last operation or its loss defines.
    sample : ndarray
        Outputs of some rows.
    threshold : float
        The network's threshold for a single output column.
    """
    if callable(output):
        converted = OutputReader("probabilities", 0, convert=output).read(sample)
        return OutputReader("probabilities", _width(converted), convert=output, threshold=threshold)
    if is_number(output, known):
        raise ValueError(
            "The network estimates a number and has no classes; RuleRegressor and clausewise.extract find "
            "rules that add numbers. For classes, pass output= with ascending cut points between them, or "
            "with a function that returns probabilities."
        )
    if output is None:
        return OutputReader(known or _recognised(sample), _width(sample), threshold=threshold)
    if isinstance(output, str):
        return OutputReader(output, _width(sample), threshold=threshold)
    if _width(sample) != 1:
        raise ValueError(
            f"The network has {_width(sample)} output columns; cut points need exactly one, a regression "
            "estimate."
        )
    return OutputReader("labels", 1, tuple(float(cut) for cut in output))


def is_number(output: Output, known: OutputForm | None) -> bool:
    """Return whether the output is a number to estimate: as stated, else as the network defines it."""
    return known == "number" if output is None else isinstance(output, str) and output == "number"


def cut_labels(cut_points: Sequence[float]) -> list[str]:
    """Return the names of the classes between cut points: `≤ 20`, `20 to 50`, `> 50`."""
    shown = [f"{cut:g}" for cut in cut_points]
    between = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"≤ {shown[0]}", *between, f"> {shown[-1]}"]


def _width(sample: NDArray[Any]) -> int:
    if sample.ndim == 1:
        return 1
    if sample.ndim != 2 or sample.shape[1] == 0:
        raise ValueError(
            f"The network's output has shape {sample.shape}; one row of class scores per row of X is needed. "
            "If only a part of it holds class scores, pass output= with a function that returns that part."
        )
    return int(sample.shape[1])


def _recognised(sample: NDArray[Any]) -> OutputForm:
    """Return the meaning that the numbers suggest, if nothing else defines it."""
    if _width(sample) == 1:
        # Logits between 0 and 1 look like probabilities, and log-probabilities like logits.
        raise ValueError(
            "The network's output is one column, and neither its last operation nor its loss defines its "
            f"meaning. {_STATE_OUTPUT}"
        )
    in_range = bool(((sample >= 0) & (sample <= 1)).all())
    if not in_range:
        return "logits"
    if np.abs(sample.sum(axis=1) - 1).max(initial=0.0) <= _TOLERANCE:
        return "probabilities"
    raise ValueError(
        "The network's output is not a class distribution: all values are in [0, 1] but rows do not sum "
        f"to 1. {_STATE_OUTPUT}"
    )
