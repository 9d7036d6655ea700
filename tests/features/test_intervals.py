"""Intervals of series against a plain reference, and as scikit-learn's own checks see them."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from clausewise.features import IntervalFeatures
from tests.parameters import check_estimator_constraints

SERIES = np.random.default_rng(0).normal(size=(9, 23, 3))


@parametrize_with_checks([IntervalFeatures(), IntervalFeatures(length=(2, 3))])
def test_scikit_learn_accepts_the_transformer(estimator, check):
    check(estimator)


def test_every_parameter_has_a_constraint():
    check_estimator_constraints(IntervalFeatures)


def reference(values):
    """Return mean, slope and variance of some numbers, exactly."""
    exact = [Fraction(float(value)) for value in values]
    mean = sum(exact) / len(exact)
    times = [Fraction(2 * step - len(exact) + 1, 2) for step in range(len(exact))]
    slope = sum(time * value for time, value in zip(times, exact, strict=True))
    slope = slope / sum(time**2 for time in times)
    return mean, slope, sum((value - mean) ** 2 for value in exact) / len(exact)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_columns_are_the_exact_statistics_up_to_rounding(offset):
    series = SERIES[:2] + offset
    intervals = IntervalFeatures(length=(23, 8, 2)).fit(series)
    found = dict(zip(intervals.get_feature_names_out(), intervals.transform(series)[1], strict=True))
    assert len(found) == 3 * (3 * (1 + 3 + 11) + 1)
    for channel in range(3):
        for first, end in [(0, 23), (0, 8), (8, 16), (16, 23), (0, 2), (20, 22)]:
            mean, slope, variance = map(float, reference(series[1, first:end, channel]))
            names = [f"channel {channel} {name} {first}–{end - 1}" for name in ("mean", "slope", "spread")]
            got = [found[name] for name in names]
            np.testing.assert_allclose(
                got, [mean, slope, variance**0.5], rtol=1e-14, atol=1e-15 * (1 + offset)
            )


def test_a_row_has_the_same_columns_alone_and_among_others():
    intervals = IntervalFeatures((1, 2, 5), statistics=["mean", "slope", "spread", "min", "max"]).fit(SERIES)
    together = intervals.transform(np.asfortranarray(SERIES))
    alone = np.concatenate([intervals.transform(row[np.newaxis]) for row in SERIES])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("value", [0.1, 1e300, -7.3e-9])
def test_a_constant_has_its_own_mean_and_no_slope_or_spread(value):
    found = IntervalFeatures(1).fit_transform(np.full((1, 7), value))
    np.testing.assert_array_equal(found, [[value, 0.0, 0.0]])


def test_columns_are_named_by_channel_statistic_and_steps():
    intervals = IntervalFeatures(2, statistics=["mean", "max"], channel_names=["x", "y"]).fit(SERIES[..., :2])
    assert intervals.get_feature_names_out().tolist() == [
        "x mean 0–10",
        "x max 0–10",
        "x mean 11–22",
        "x max 11–22",
        "y mean 0–10",
        "y max 0–10",
        "y mean 11–22",
        "y max 11–22",
    ]


def test_steps_have_the_labels_of_their_times():
    days = ["Mon", "Tue", "Wed", "Thu", "Fri"]
    intervals = IntervalFeatures(length=2, statistics=["mean", "slope"], time_labels=days).fit(np.eye(5))
    assert intervals.get_feature_names_out().tolist() == [
        "mean Mon–Tue",
        "slope Mon–Tue",
        "mean Wed–Thu",
        "slope Wed–Thu",
        "mean Fri",
    ]


def test_channels_may_come_first():
    expected = IntervalFeatures(4).fit_transform(SERIES)
    found = IntervalFeatures(4, channels_first=True).fit_transform(np.moveaxis(SERIES, 2, 1))
    np.testing.assert_array_equal(found, expected)


def test_an_interval_with_a_missing_step_is_missing():
    series = SERIES[:1].copy()
    series[0, 3, 0] = np.nan
    found = IntervalFeatures(2, statistics=["mean"]).fit_transform(series)
    assert np.isnan(found).tolist() == [[True, False, False, False, False, False]]


def test_a_fitted_transformer_keeps_its_intervals_when_it_is_cloned_and_fitted_again():
    intervals = IntervalFeatures((1, 4)).fit(SERIES)
    assert clone(intervals).fit(SERIES[:2]).intervals_ == intervals.intervals_


@pytest.mark.parametrize(
    ("options", "series", "message"),
    [
        ({"channel_names": ["x"]}, SERIES, "channel_names has 1 entries, but the series have 3 channels"),
        ({"time_labels": range(4)}, SERIES, "time_labels has 4 entries, but the series have 23 steps"),
        (
            {"length": 1, "statistics": ["slope"]},
            SERIES,
            "Every interval is a single step, which has no slope",
        ),
        ({"statistics": []}, SERIES, "which has no columns"),
        ({}, SERIES[..., np.newaxis], r"X has shape \(9, 23, 3, 1\); expected series"),
    ],
)
def test_errors_say_what_to_do(options, series, message):
    with pytest.raises(ValueError, match=message):
        IntervalFeatures(**options).fit(series)


def test_series_of_another_shape_are_refused():
    intervals = IntervalFeatures(2).fit(SERIES)
    with pytest.raises(ValueError, match=r"X has series of 23 steps and 2 channels, but .* 23 steps and 3"):
        intervals.transform(SERIES[..., :2])
