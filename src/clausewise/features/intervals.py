"""Means, slopes and spreads of the intervals of series, as named columns."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from clausewise.base.parameters import (
    ARRAY_LIKE,
    FLAG,
    NOTHING,
    Constraint,
    check_estimator_parameters,
    list_of,
    one_of,
    whole,
)

if TYPE_CHECKING:
    from typing import Self

Statistic = Literal["mean", "slope", "spread", "min", "max"]
Floats = NDArray[np.float64]
Interval = tuple[int, int]
"""The first step of an interval, and the step after its last one."""


class IntervalFeatures(TransformerMixin, BaseEstimator):
    """Statistics of the intervals of series: `accel_x mean 12–20`.

    Each series is cut into intervals of equal length. For every channel and interval, the columns are the
    mean, the slope of the least-squares line (change per step) and the spread (standard deviation) of its
    values. They depend on nothing but the series itself, so a series has the same columns alone and among
    others, to the last bit. An interval with a missing value (NaN) has missing columns.

    Parameters
    ----------
    n_intervals : int or sequence of int, default (1, 4)
        Number of intervals; several numbers for several scales. A series with fewer steps gets one interval
        per step.
    length : int or sequence of int, optional
        Number of steps of each interval, instead of `n_intervals`. The last interval may be shorter.
    statistics : sequence of {"mean", "slope", "spread", "min", "max"}, default ("mean", "slope", "spread")
        The columns per interval. Of a single step, only the mean, the minimum and the maximum are computed.
    channel_names : sequence of str, optional
        Names of the channels; `channel 0`, `channel 1`, … unless given. Columns of series with one channel
        do not name it.
    time_labels : sequence, optional
        A label per step, such as hours or dates; 0, 1, … unless given.
    channels_first : bool, default False
        Whether series have the shape (n_rows, n_channels, n_steps), as convolutions of PyTorch read them,
        instead of (n_rows, n_steps, n_channels).

    Attributes
    ----------
    intervals_ : tuple of (int, int)
        The first step of each interval, and the step after its last one.
    n_steps_, n_channels_ : int
        Number of steps and channels of a series.
    n_features_in_ : int
        As everywhere in scikit-learn: the length of the second axis.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.features import IntervalFeatures
    >>> series = np.array([[1.0, 1.0, 2.0, 4.0]])
    >>> intervals = IntervalFeatures(2, statistics=["mean", "slope"]).fit(series)
    >>> intervals.get_feature_names_out().tolist()
    ['mean 0–1', 'slope 0–1', 'mean 2–3', 'slope 2–3']
    >>> intervals.transform(series)
    array([[1., 0., 3., 2.]])
    """

    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_intervals": whole(1) | list_of(whole(1), "a list of such numbers"),
        "length": whole(1) | list_of(whole(1), "a list of such numbers") | NOTHING,
        "statistics": list_of(
            one_of("mean", "slope", "spread", "min", "max"),
            "a list of 'mean', 'slope', 'spread', 'min' and 'max'",
        ),
        "channel_names": ARRAY_LIKE | NOTHING,
        "time_labels": ARRAY_LIKE | NOTHING,
        "channels_first": FLAG,
    }

    def __init__(
        self,
        n_intervals: int | Sequence[int] = (1, 4),
        *,
        length: int | Sequence[int] | None = None,
        statistics: Sequence[Statistic] = ("mean", "slope", "spread"),
        channel_names: Sequence[str] | None = None,
        time_labels: Sequence[Any] | None = None,
        channels_first: bool = False,
    ) -> None:
        self.n_intervals = n_intervals
        self.length = length
        self.statistics = statistics
        self.channel_names = channel_names
        self.time_labels = time_labels
        self.channels_first = channels_first

    def fit(self, X: Any, y: Any = None) -> "Self":
        """Learn the number of steps and channels, and cut the steps into intervals.

        Parameters
        ----------
        X : array of shape (n_rows, n_steps, n_channels), or (n_rows, n_steps) for one channel
            The series.
        y : None
            Ignored.
        """
        check_estimator_parameters(self)
        steps = self._steps(X, is_new=True)
        self.n_steps_, self.n_channels_ = steps.shape[0], steps.shape[2]
        _check_length("channel_names", self.channel_names, self.n_channels_, "channels")
        _check_length("time_labels", self.time_labels, self.n_steps_, "steps")
        if self.length is None:
            scales = [_of_number(self.n_steps_, number) for number in _listed(self.n_intervals)]
        else:
            scales = [_of_length(self.n_steps_, length) for length in _listed(self.length)]
        # Short series have the same interval on several scales.
        self.intervals_ = tuple(dict.fromkeys(interval for scale in scales for interval in scale))
        if not self._columns():
            raise ValueError(
                f"Every interval is a single step, which has no {' or '.join(self.statistics) or 'columns'}; "
                "pass fewer or longer intervals, or the statistic 'mean'."
            )
        return self

    def transform(self, X: Any) -> Floats:
        """Return the columns of each series.

        Parameters
        ----------
        X : array of shape (n_rows, n_steps, n_channels), or (n_rows, n_steps) for one channel
            Series of the length and with the channels of those in `fit`.
        """
        check_is_fitted(self)
        steps = self._steps(X, is_new=False)
        if steps.shape[::2] != (self.n_steps_, self.n_channels_):
            raise ValueError(
                f"X has series of {steps.shape[0]} steps and {steps.shape[2]} channels, but IntervalFeatures "
                f"was fitted on {self.n_steps_} steps and {self.n_channels_} channels; pass series of the "
                "same shape."
            )
        found = {
            interval: _statistics(steps, interval, self._statistics_of(interval))
            for interval in self.intervals_
        }
        columns = [found[interval][name][:, channel] for channel, interval, name in self._columns()]
        return np.stack(columns, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the name of each column: channel, statistic, first and last step of the interval.

        Parameters
        ----------
        input_features : None
            Only for scikit-learn; the names of the steps are `time_labels`.
        """
        check_is_fitted(self)
        self._check_input_features(input_features)
        names = [self._name(*column) for column in self._columns()]
        return np.array(names, dtype=object)

    def _columns(self) -> list[tuple[int, Interval, Statistic]]:
        """Return channel, interval and statistic of each column."""
        return [
            (channel, interval, name)
            for channel in range(self.n_channels_)
            for interval in self.intervals_
            for name in self._statistics_of(interval)
        ]

    def _statistics_of(self, interval: Interval) -> list[Statistic]:
        """Return the statistics of an interval: all of them, unless it is a single step."""
        is_single = interval[1] - interval[0] == 1
        return [name for name in dict.fromkeys(self.statistics) if not (is_single and name in _OF_LINES)]

    def _name(self, channel: int, interval: Interval, statistic: Statistic) -> str:
        labels = range(self.n_steps_) if self.time_labels is None else self.time_labels
        first, last = (str(labels[step]) for step in (interval[0], interval[1] - 1))
        when = first if interval[1] - interval[0] == 1 else f"{first}–{last}"
        if self.channel_names is not None:
            return f"{self.channel_names[channel]} {statistic} {when}"
        which = f"channel {channel} " if self.n_channels_ > 1 else ""
        return f"{which}{statistic} {when}"

    def _steps(self, X: Any, *, is_new: bool) -> Floats:
        """Return the series as an array of shape (n_steps, n_rows, n_channels)."""
        values = validate_data(
            self,
            X,
            reset=is_new,
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite="allow-nan",
        )
        if values.ndim not in (2, 3):
            raise ValueError(
                f"X has shape {values.shape}; expected series of shape (n_rows, n_steps, n_channels), or "
                "(n_rows, n_steps) for one channel. Reshape your data."
            )
        if is_new:
            self.n_features_in_ = values.shape[1]
        if values.ndim == 2:
            if values.shape[1] != self.n_features_in_:  # in the words of scikit-learn's checks
                raise ValueError(
                    f"X has {values.shape[1]} features, but IntervalFeatures is expecting "
                    f"{self.n_features_in_} features as input: one per step."
                )
            values = values[:, :, np.newaxis]
        elif self.channels_first:
            values = np.moveaxis(values, 1, 2)
        return np.ascontiguousarray(np.moveaxis(values, 1, 0))

    def _check_input_features(self, input_features: Any) -> None:
        """Raise the errors that scikit-learn expects for names that are not those of the second axis."""
        if input_features is None:
            return
        own = getattr(self, "feature_names_in_", None)
        if own is not None and not np.array_equal(own, input_features):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(input_features) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(input_features)}"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags


# --- Intervals ---


def _of_number(n_steps: int, n_intervals: int) -> list[Interval]:
    """Cut the steps into this many intervals, whose lengths differ by at most one step."""
    n_cut = min(n_intervals, n_steps)
    return list(pairwise(number * n_steps // n_cut for number in range(n_cut + 1)))


def _of_length(n_steps: int, length: int) -> list[Interval]:
    return [(first, min(first + length, n_steps)) for first in range(0, n_steps, length)]


def _listed(value: int | Sequence[int]) -> list[int]:
    return [int(one) for one in np.atleast_1d(value)]


def _check_length(name: str, given: Sequence[Any] | None, n_expected: int, what: str) -> None:
    if given is not None and len(given) != n_expected:
        raise ValueError(
            f"{name} has {len(given)} entries, but the series have {n_expected} {what}; pass one for each."
        )


# --- Statistics ---
#
# Steps are added one after the other, for all rows and channels at once. NumPy's own sums choose their order
# by the shape of the array, so that a row alone could get other last bits than among others.


def _statistics(steps: Floats, interval: Interval, names: Sequence[Statistic]) -> dict[Statistic, Floats]:
    """Return each statistic of the steps of an interval, of shape (n_rows, n_channels)."""
    values = steps[slice(*interval)]
    mean = _mean(values)
    return {name: _FUNCTIONS[name](values, mean) for name in names}


def _mean(values: Floats) -> Floats:
    # Relative to the first step: the mean of a constant is that constant, and its spread is 0.
    total = np.zeros_like(values[0])
    for step in values[1:]:
        total += step - values[0]
    return np.asarray(values[0] + total / len(values))


def _slope(values: Floats, mean: Floats) -> Floats:
    """Return the slope of the least-squares line, in change per step."""
    times = np.arange(len(values)) - (len(values) - 1) / 2
    total = np.zeros_like(mean)
    for time, step in zip(times, values, strict=True):
        total += time * (step - mean)
    return np.asarray(total / (times**2).sum())


def _spread(values: Floats, mean: Floats) -> Floats:
    total = np.zeros_like(mean)
    for step in values:
        total += (step - mean) ** 2
    return np.asarray(np.sqrt(total / len(values)))


_FUNCTIONS: Final[Mapping[Statistic, Callable[[Floats, Floats], Floats]]] = {
    "mean": lambda _, mean: mean,
    "slope": _slope,
    "spread": _spread,
    "min": lambda values, _: values.min(axis=0),
    "max": lambda values, _: values.max(axis=0),
}
# A single step has none.
_OF_LINES: Final = ("slope", "spread")
