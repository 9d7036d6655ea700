"""Searches that begin on a part of many rows."""

import numpy as np
import pytest

from clausewise import RuleSet
from clausewise.compact import seeded_search
from clausewise.compact.examples import Examples
from clausewise.compact.first_rows import first_rows
from clausewise.compact.settings import MIN_OF_CLASS, N_SEARCHED_FIRST


def examples_with(n_of_class, weights=None):
    codes = np.repeat(np.arange(len(n_of_class), dtype=np.int32), n_of_class)
    codes = np.random.RandomState(1).permutation(codes)
    return Examples(np.arange(len(codes), dtype=float)[:, None], codes, len(n_of_class), weights=weights)


def test_classes_count_in_the_first_rows_as_among_all_rows():
    n_of_class = [150_000, 48_000, 1_500, 480, 20, 0]

    part = first_rows(examples_with(n_of_class))

    drawn = np.bincount(part.codes, minlength=6)
    assert drawn[2:].tolist() == [MIN_OF_CLASS, 480, 20, 0]
    assert drawn[0] == pytest.approx(0.75 * N_SEARCHED_FIRST, abs=1)
    assert np.bincount(part.codes, part.weights, minlength=6) == pytest.approx(n_of_class)
    assert (np.diff(part.table[:, 0]) > 0).all()  # each row once, in the given order


def test_weights_of_the_first_rows_stay_in_proportion():
    weights = np.random.RandomState(0).choice([1.0, 3.0], size=100_000)

    part = first_rows(examples_with([60_000, 40_000], weights))

    own = weights[part.table[:, 0].astype(int)]
    for code in (0, 1):
        ratios = (part.weights / own)[part.codes == code]
        assert ratios == pytest.approx(np.full(len(ratios), ratios[0]))


@pytest.fixture
def stripes():
    """Return many rows in a class that depends on two of four columns."""
    X = np.random.RandomState(0).uniform(size=(70_000, 4)).round(3)
    label = (X[:, 0] > 0.3) & (X[:, 1] <= 0.6) | (X[:, 0] <= 0.3) & (X[:, 1] > 0.9)
    return X, np.where(label, "yes", "no")


@pytest.fixture
def no_rules():
    return RuleSet.from_rules([], ["a", "b", "c", "d"], classes=["no", "yes"], default="no")


def test_rules_found_on_a_part_are_improved_and_counted_on_all_rows(stripes, no_rules):
    X, label = stripes

    found = no_rules.compact(X, label, max_rules=4)

    assert found.evaluate(X, network=label).fidelity > 0.995
    fires = found.evaluator.fires(found.features.encode(X)).dense()
    assert found.columns.cover.tolist() == fires.sum(axis=1).tolist()


def test_the_result_is_the_same_for_any_number_of_threads(stripes, no_rules):
    X, label = stripes

    one, two = (no_rules.compact(X, label, max_rules=4, n_jobs=n) for n in (1, 2))

    assert one == two


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_part_gives_about_the_loss_of_all_rows(monkeypatch, n_classes):
    X = np.random.RandomState(3).normal(size=(66_000, 5))
    label = np.digitize(X[:, 0] + X[:, 1] ** 2 / 2 - (X[:, 2] > 0.5), [0.2, 1.2][: n_classes - 1])
    rules = RuleSet.from_rules([], list("abcde"), classes=list(range(n_classes)), default=0)

    part = rules.compact(X, label, max_rules=6).evaluate(X, network=label).fidelity
    monkeypatch.setattr(seeded_search, "MANY_TO_SEARCH", np.inf)
    every = rules.compact(X, label, max_rules=6).evaluate(X, network=label).fidelity

    assert part == pytest.approx(every, abs=0.02)
