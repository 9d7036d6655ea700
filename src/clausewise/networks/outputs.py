"""What the numbers at a network's output say about classes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from clausewise.networks.protocol import OutputForm

STATED_FORMS: Final = ("logits", "probabilities", "sigmoids", "labels")
Output = OutputForm | Sequence[float] | Callable[[NDArray[Any]], NDArray[Any]] | None
"""How the caller says what the output means; None to recognise it. See `wrap`."""

# Sums of single-precision probabilities, also after a round trip through half precision.
_TOLERANCE = 5e-3


@dataclass(frozen=True)
class OutputReader:
    """From output numbers to classes.

    Attributes
    ----------
    form : OutputForm
        What the numbers mean.
    n_columns : int
        Number of output columns.
    cut_points : tuple of float
        Where a single number is cut into classes; empty for a network that classifies.
    convert : callable, optional
        What the caller wants done with the outputs first; its result holds probabilities.
    threshold : float
        Above which probability one column decides for the second class.
    """

    form: OutputForm
    n_columns: int
    cut_points: tuple[float, ...] = ()
    convert: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    threshold: float = 0.5

    @property
    def n_classes(self) -> int | None:
        """Number of classes, or None if the output does not tell."""
        if self.cut_points:
            return len(self.cut_points) + 1
        return None if self.form == "labels" else max(self.n_columns, 2)

    def codes(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """The position of each row's class; on ties the first."""
        if self.form == "labels":
            return self._as_labels(values)
        if self.n_columns == 1:
            threshold = logit(self.threshold) if self.form == "logits" else self.threshold
            return np.asarray(self._checked(values)[:, 0] > threshold, dtype=np.int32)
        return np.asarray(self._checked(values).argmax(axis=1), dtype=np.int32)

    def probabilities(self, values: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
        """One column per class, summing to 1."""
        if self.form == "labels":
            return np.asarray(np.eye(n_classes)[self._as_labels(values)])
        numbers = self._checked(values).astype(np.float64)
        if self.form == "logits":
            numbers = expit(numbers) if self.n_columns == 1 else softmax(numbers, axis=1)
        if self.n_columns == 1:
            numbers = np.hstack([1.0 - numbers, numbers])
        total = numbers.sum(axis=1, keepdims=True)
        even = np.full_like(numbers, 1 / n_classes)
        return np.asarray(np.divide(numbers, total, out=even, where=total > 0))

    def read(self, values: NDArray[Any]) -> NDArray[Any]:
        """The outputs of some rows as a matrix, after the caller's conversion and cuts."""
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
                    f"The network's output is not a class distribution: it holds {values[outside][0]:.6g}, "
                    f"probabilities lie between 0 and 1. {_HOW_TO_SAY}"
                )
        if self.form == "probabilities" and self.n_columns > 1:
            wrong = np.abs(values.sum(axis=1, dtype=np.float64) - 1) > _TOLERANCE
            if wrong.any():
                raise ValueError(
                    f"The network's output is not a class distribution: {int(wrong.sum()):,} of "
                    f"{len(values):,} rows do not sum to 1 (one sums to {values[wrong][0].sum():.6g}). "
                    f"{_HOW_TO_SAY}"
                )
        return values


_HOW_TO_SAY = (
    "Say what it is: output='logits', 'probabilities', 'sigmoids' (a probability per class on its own), "
    "a list of cut points for a network that estimates a number, or a function that gives probabilities."
)


def read_as(
    output: Output, known: OutputForm | None, sample: NDArray[Any], threshold: float = 0.5
) -> OutputReader:
    """How to read an output: as stated, else as the network itself says, else as the numbers look.

    Parameters
    ----------
    output : Output
        What the caller states.
    known : OutputForm or None
        What the network's own last operation says.
    sample : ndarray
        Outputs of some rows.
    threshold : float
        The network's own, above which one column decides for the second class.
    """
    if callable(output):
        converted = OutputReader("probabilities", 0, convert=output).read(sample)
        return OutputReader("probabilities", _width(converted), convert=output, threshold=threshold)
    if output is None and known == "number":
        raise ValueError(
            "The network estimates a number and decides between no classes; pass output=, ascending cut "
            "points that make classes of it, or a function that gives probabilities."
        )
    if output is None:
        return OutputReader(known or _recognised(sample), _width(sample), threshold=threshold)
    if isinstance(output, str):
        if output not in STATED_FORMS:
            raise ValueError(f"output is {output!r}. {_HOW_TO_SAY}")
        return OutputReader(output, _width(sample), threshold=threshold)
    cuts = tuple(float(cut) for cut in output)
    if not cuts or not np.isfinite(cuts).all() or list(cuts) != sorted(set(cuts)):
        raise ValueError(f"output is {list(output)}; cut points must be finite numbers in ascending order.")
    if _width(sample) != 1:
        raise ValueError(
            f"The network has {_width(sample)} output columns; cut points need one that estimates a number."
        )
    return OutputReader("labels", 1, cuts)


def cut_labels(cut_points: Sequence[float]) -> list[str]:
    """Names of the classes between cut points: `≤ 20`, `20 to 50`, `> 50`."""
    shown = [f"{cut:g}" for cut in cut_points]
    between = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"≤ {shown[0]}", *between, f"> {shown[-1]}"]


def _width(sample: NDArray[Any]) -> int:
    if sample.ndim == 1:
        return 1
    if sample.ndim != 2 or sample.shape[1] == 0:
        raise ValueError(
            f"The network's output has shape {sample.shape}; one row of class scores per row of X is needed. "
            "If only a part of it classifies, pass output=, a function that gives that part."
        )
    return int(sample.shape[1])


def _recognised(sample: NDArray[Any]) -> OutputForm:
    """What numbers look like, where nothing else says what they are."""
    if _width(sample) == 1:
        # Logits that happen to lie between 0 and 1 look like probabilities, log-probabilities like logits.
        raise ValueError(
            "The network's output is one column, and neither its last step nor its loss says what the "
            f"numbers are. {_HOW_TO_SAY}"
        )
    in_range = bool(((sample >= 0) & (sample <= 1)).all())
    if not in_range:
        return "logits"
    if np.abs(sample.sum(axis=1) - 1).max(initial=0.0) <= _TOLERANCE:
        return "probabilities"
    raise ValueError(
        "The network's output is not a class distribution: all values lie in [0, 1] and rows do not sum "
        f"to 1. {_HOW_TO_SAY}"
    )
