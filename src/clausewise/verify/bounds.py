"""Bounds on the outputs of a network over many boxes at once, by linear relaxation (CROWN).

Every activation is replaced by a line below and a line above it, so that a bound on an output becomes a
linear function of the inputs, whose least value on a box is known. Bounds hold for the numbers that the model
itself computes in single or double precision, in any order of additions, and include the rounding errors of
this module:

- A dense layer adds `n` products with an error of at most γ(n) = n·u / (1 − n·u) times the sum of their
  magnitudes, where u is the unit roundoff. Each unit therefore has a slack of γ times that sum on the box.
- Passing coefficients back through the same layer in double precision has an error of the same form, with the
  unit roundoff of doubles; the slack is enlarged by it.
- Offsets of lines are moved outwards by the error of the library's function, and by a relative rounding
error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clausewise.networks.plain import FUNCTIONS, Activation, Add, Dense, Floats, PlainNetwork, Scale, Step
from clausewise.verify.relaxation import Lines, function_error, lines_of, unit_roundoff

# Additional roundings per unit, as when batch normalisation is folded into weights.
_MORE_ROUNDINGS: Final = 16
_DOUBLE: Final = np.dtype(np.float64)
_TINY: Final = 1e-30  # more than results that underflow can lose


@dataclass(frozen=True, eq=False)
class Choice:
    """Input columns that take one of several combinations of values, such as a one-hot block.

    Attributes
    ----------
    columns : ndarray of int
        The input columns.
    values : ndarray of shape (n_options, n_columns)
        Their values for each option.
    """

    columns: NDArray[np.intp]
    values: Floats


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes in the space of a network's inputs.

    Attributes
    ----------
    low, high : ndarray of shape (n_boxes, n_inputs)
        The bounds of each input; those of the columns of a choice are ignored.
    options : sequence of boolean ndarray of shape (n_boxes, n_options)
        For each choice, the options that a box contains.
    """

    low: Floats
    high: Floats
    options: Sequence[NDArray[np.bool_]] = ()

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True, eq=False)
class LinearBounds:
    """Bounds on linear functions of the outputs: for each box and function.

    Attributes
    ----------
    low : ndarray of shape (n_boxes, n_functions)
        Lower bounds.
    slopes : ndarray of shape (n_boxes, n_functions, n_inputs)
        Coefficients of the linear functions of the inputs from which they follow.
    looseness : ndarray of shape (n_boxes, n_functions, n_inputs)
        By how much the distance between the lines of all activations loosens each bound, per unit of width of
        each input.
    magnitude : ndarray of shape (n_boxes,)
        A bound on the absolute value of all outputs.
    """

    low: Floats
    slopes: Floats
    looseness: Floats
    magnitude: Floats


@dataclass(eq=False)
class _State:
    """What is known about each step of a network on some boxes: bounds, slacks and lines."""

    low: list[Floats]
    high: list[Floats]
    slack: list[Floats]
    lines: dict[int, Lines]
    # For each step before an activation, its coefficients of the inputs.
    slopes: dict[int, Floats]
    # For each activation, the largest distance between its lines, per unit of width of its interval.
    gaps: dict[int, Floats]


class BoundedNetwork:
    """Computes bounds on functions of a network's outputs.

    Parameters
    ----------
    network : PlainNetwork
        The network.
    choices : sequence of Choice
        Input columns that belong together.
    input_slack : ndarray of shape (n_inputs,), optional
        By how much each input may differ from the values in a box.
    """

    def __init__(
        self, network: PlainNetwork, choices: Sequence[Choice] = (), input_slack: Floats | None = None
    ) -> None:
        self.network, self._choices = network, tuple(choices)
        self._input_slack = np.zeros(network.n_inputs) if input_slack is None else input_slack
        widest = max(network.sizes)
        self._roundoff = unit_roundoff(network.dtype)
        self._rounding = 8.0 * (widest + len(network.steps) + _MORE_ROUNDINGS) * unit_roundoff(_DOUBLE)
        is_free = np.ones(network.n_inputs, dtype=bool)
        for choice in self._choices:
            is_free[choice.columns] = False
        self._free = np.flatnonzero(is_free)
        self._absolute = [np.abs(s.weights) if isinstance(s, Dense) else None for s in network.steps]
        # Of the steps that only activations read, the slack becomes a part of the offsets of their lines.
        read_by = [
            [type(other) for other in network.steps if number in _sources(other)]
            for number in range(len(network.sizes))
        ]
        self._readers = [len(readers) for readers in read_by]
        self._is_before_activation = [
            number > 0 and bool(readers) and all(reader is Activation for reader in readers)
            for number, readers in enumerate(read_by)
        ]

    def bound(self, boxes: Boxes, functions: Floats, offsets: Floats) -> LinearBounds:
        """Return lower bounds on `functions @ outputs + offsets`; one row of `functions` per function."""
        state = self._start(boxes)
        for number in range(1, len(self.network.sizes)):
            self._visit(number, boxes, state)
        last = len(self.network.steps)
        looseness = np.zeros((len(boxes), len(functions), self.network.n_inputs))
        low, slopes = self._backward(last, functions, boxes, state, looseness)
        low = low + offsets - self._rounding * np.abs(offsets)
        magnitude = np.maximum(np.abs(state.low[last]), np.abs(state.high[last])).max(axis=1)
        return LinearBounds(low, np.broadcast_to(slopes, looseness.shape), looseness, magnitude)

    def output_bounds(self, boxes: Boxes) -> tuple[Floats, Floats]:
        """Return lower and upper bounds on each output."""
        size = self.network.sizes[-1]
        every = np.vstack([np.eye(size), -np.eye(size)])
        low = self.bound(boxes, every, np.zeros(2 * size)).low
        return low[:, :size], -low[:, size:]

    # --- Forward: bounds of each step ---

    def _start(self, boxes: Boxes) -> _State:
        low, high = boxes.low.copy(), boxes.high.copy()
        for choice, allowed in zip(self._choices, boxes.options, strict=True):
            cells = choice.values[None, :, :]
            low[:, choice.columns] = np.where(allowed[:, :, None], cells, np.inf).min(axis=1)
            high[:, choice.columns] = np.where(allowed[:, :, None], cells, -np.inf).max(axis=1)
        slack = self._rounding * np.maximum(np.abs(low), np.abs(high)) + self._input_slack
        return _State([low - slack], [high + slack], [slack], {}, {}, {})

    def _visit(self, number: int, boxes: Boxes, state: _State) -> None:
        """Add the bounds and the slack of one step."""
        step = self.network.steps[number - 1]
        if isinstance(step, Activation):
            self._visit_activation(number, step, state)
            return
        low, high, slack = self._interval(number, state)
        state.low.append(low)
        state.high.append(high)
        state.slack.append(slack)
        if self._is_before_activation[number]:
            size = self.network.sizes[number]
            if isinstance(step, Dense):
                rows = np.vstack([step.weights.T, -step.weights.T])
                found, slopes = self._backward(step.source, rows, boxes, state)
                found = found + np.concatenate([step.bias, -step.bias]) - np.hstack([slack, slack])
            else:
                rows = np.vstack([np.eye(size), -np.eye(size)])
                found, slopes = self._backward(number, rows, boxes, state)
            state.slopes[number] = slopes[:, :size]
            np.maximum(low, found[:, :size], out=low)
            np.minimum(high, -found[:, size:], out=high)

    def _visit_activation(self, number: int, step: Activation, state: _State) -> None:
        low, high = state.low[step.source], state.high[step.source]
        error = function_error(step, self.network.dtype)
        lines = lines_of(step, low, high, error, self._rounding)
        state.gaps[number] = lines.gap(low, high) / np.maximum(high - low, _TINY)
        if self._is_before_activation[step.source]:
            lines = self._with_affine_part(step.source, lines, state)
        state.lines[number] = lines
        at_low, at_high = _function_values(step, low, high)
        spread = (error + self._rounding) * (1.0 + np.maximum(np.abs(at_low), np.abs(at_high)))
        if step.name == "relu":
            spread = np.zeros_like(low)
        state.low.append(at_low - spread)
        state.high.append(at_high + spread)
        state.slack.append(np.zeros_like(low))

    def _with_affine_part(self, number: int, lines: Lines, state: _State) -> Lines:
        """Return lines as functions of a step without its bias, whose slack they include."""
        step, slack = self.network.steps[number - 1], state.slack[number]
        shift = step.bias if isinstance(step, Dense) else step.shift if isinstance(step, Scale) else 0.0
        return Lines(
            lines.slope_below,
            lines.below + lines.slope_below * shift - np.abs(lines.slope_below) * slack,
            lines.slope_above,
            lines.above + lines.slope_above * shift + np.abs(lines.slope_above) * slack,
        )

    def _interval(self, number: int, state: _State) -> tuple[Floats, Floats, Floats]:
        """Return bounds of an affine step or a sum by interval arithmetic, and its slack."""
        step = self.network.steps[number - 1]
        assert not isinstance(step, Activation)
        sources = step.sources if isinstance(step, Add) else (step.source,)
        centre = [(state.low[s] + state.high[s]) / 2 for s in sources]
        radius = [(state.high[s] - state.low[s]) / 2 for s in sources]
        largest = [np.abs(c) + r for c, r in zip(centre, radius, strict=True)]
        if isinstance(step, Add):
            middle, spread, size = (np.sum(part, axis=0) for part in (centre, radius, largest))
            n_added = len(sources)
        elif isinstance(step, Scale):
            middle = centre[0] * step.scale + step.shift
            spread = radius[0] * np.abs(step.scale)
            size, n_added = largest[0] * np.abs(step.scale) + step.magnitude, 1
        else:
            absolute = self._absolute[number - 1]
            assert absolute is not None
            middle = centre[0] @ step.weights + step.bias
            spread = radius[0] @ absolute
            size, n_added = largest[0] @ absolute + np.abs(step.bias), len(absolute)
        slack = (self._gamma(n_added) + self._rounding) * size + _TINY * (1.0 + n_added)
        return middle - spread - slack, middle + spread + slack, slack

    def _gamma(self, n_added: int) -> float:
        product = (n_added + _MORE_ROUNDINGS) * self._roundoff
        return product / (1.0 - product)

    # --- Backward: linear bounds ---

    def _backward(
        self, number: int, rows: Floats, boxes: Boxes, state: _State, looseness: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return lower bounds of `rows @ step` for each box, and their coefficients of the inputs.

        Coefficients have the shape (n_boxes, n_rows, n_units), or (1, n_rows, n_units) as long as they are
        the same for all boxes. The looseness of the bounds is added to `looseness`, if given.
        """
        pending: dict[int, Floats] = {number: rows[None, :, :]}
        low = np.zeros((len(boxes), len(rows)))
        for position in range(number, 0, -1):
            if position not in pending:
                continue
            above, step = pending.pop(position), self.network.steps[position - 1]
            if isinstance(step, Activation):
                lines = state.lines[position]
                positive, negative = np.maximum(above, 0.0), np.minimum(above, 0.0)
                low += _dot(positive, lines.below) + _dot(negative, lines.above)
                dense = self._narrow_before(step, above) if looseness is None else None
                if dense is not None:
                    # The same products, but the larger ones only once: all boxes share these coefficients.
                    weights = dense.weights.T[None]
                    below = np.matmul(positive, lines.slope_below[:, :, None] * weights)
                    below += np.matmul(negative, lines.slope_above[:, :, None] * weights)
                    source = dense.source
                    pending[source] = pending[source] + below if source in pending else below
                    continue
                below = positive * lines.slope_below[:, None, :]
                below += negative * lines.slope_above[:, None, :]
                if looseness is not None and step.source in state.slopes:
                    gaps = np.abs(above) * state.gaps[position][:, None, :]
                    looseness += np.matmul(gaps, np.abs(state.slopes[step.source]))
                sources: Sequence[int] = (step.source,)
            else:
                if not self._is_before_activation[position] or position == number:
                    low -= _dot(np.abs(above), state.slack[position])
                    low += _shift(step, above)
                sources = step.sources if isinstance(step, Add) else (step.source,)
                below = _through(step, above)
            for source in sources:
                pending[source] = pending[source] + below if source in pending else below
        slopes = pending.get(0, np.zeros((1, len(rows), self.network.n_inputs)))
        return low + self._least(slopes, boxes, state), slopes

    def _narrow_before(self, step: Activation, above: Floats) -> Dense | None:
        """Return the dense layer that only this activation reads, if it has fewer inputs than rows are asked.

        Only for coefficients that are the same for all boxes.
        """
        dense = self.network.steps[step.source - 1] if step.source > 0 else None
        is_narrow = (
            len(above) == 1
            and isinstance(dense, Dense)
            and self._readers[step.source] == 1
            and len(dense.weights) < above.shape[1]
        )
        return dense if is_narrow and isinstance(dense, Dense) else None

    def _least(self, slopes: Floats, boxes: Boxes, state: _State) -> Floats:
        """Return the least value of linear functions of the inputs on each box."""
        free = self._free
        whole = slopes if len(free) == self.network.n_inputs else slopes[:, :, free]
        centre = (boxes.low[:, free] + boxes.high[:, free]) / 2
        radius = (boxes.high[:, free] - boxes.low[:, free]) / 2
        low = _dot(whole, centre) - _dot(np.abs(whole), radius)
        low -= _dot(np.abs(slopes), state.slack[0])
        for choice, allowed in zip(self._choices, boxes.options, strict=True):
            values = slopes[:, :, choice.columns] @ choice.values.T
            low += np.where(allowed[:, None, :], values, np.inf).min(axis=2)
        return low


def _sources(step: Step) -> tuple[int, ...]:
    return step.sources if isinstance(step, Add) else (step.source,)


def _function_values(step: Activation, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    function = FUNCTIONS[step.name][0]
    return function(low, step.slope), function(high, step.slope)


def _through(step: Step, above: Floats) -> Floats:
    """Return coefficients of the source of an affine step or a sum."""
    if isinstance(step, Dense):
        return above @ step.weights.T
    return above * step.scale if isinstance(step, Scale) else above


def _shift(step: Step, above: Floats) -> Floats:
    """Return what the constant part of an affine step adds."""
    if isinstance(step, Dense):
        return np.asarray(above @ step.bias)
    return np.asarray(above @ step.shift) if isinstance(step, Scale) else np.zeros(above.shape[:2])


def _dot(coefficients: Floats, values: Floats) -> Floats:
    """Return the products of coefficients (n_boxes or 1, n_rows, n_units) with values (n_boxes, n_units)."""
    if len(coefficients) == 1:
        return np.asarray(values @ coefficients[0].T)
    return np.asarray(np.matmul(coefficients, values[:, :, None])[:, :, 0])
