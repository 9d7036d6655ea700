"""Certified parts: where they start, how they grow, and that people can read their bounds."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clausewise
from clausewise import RuleSet
from clausewise.networks import ArrayNetwork
from clausewise.verify.growing import _decimal_beyond
from tests.verify.test_certify import check_no_counterexample

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def correlated_rows(n_rows: int, n_columns: int) -> np.ndarray:
    random = np.random.RandomState(0)
    return random.normal(size=(n_rows, n_columns)) @ random.normal(size=(n_columns, n_columns))


@pytest.fixture(scope="module")
def ten_columns():
    """Return a network for ten correlated columns, the rows, and a rule that is often wrong."""
    rows = correlated_rows(1_500, 10)
    classes = (rows[:, 0] + np.abs(rows[:, 1]) > 1).astype(int)
    network = MLPClassifier((16, 8), max_iter=60, random_state=0, learning_rate_init=0.01)
    model = make_pipeline(StandardScaler(), network).fit(rows, classes)
    names = [f"x{column}" for column in range(10)]
    return model, rows, RuleSet.from_text("IF x0 > -1.5 THEN 1", names, classes=[0, 1], default=0)


@pytest.fixture(scope="module")
def certificate(ten_columns):
    model, rows, rules = ten_columns
    return rules.certify(model, rows, max_boxes=6_000, seconds=600)


def test_parts_of_ten_columns_have_many_rows(certificate, ten_columns):
    model, rows, _ = ten_columns
    inside = certificate.certified(rows)
    assert inside.sum() == certificate.n_certified_rows >= 100
    assert (model.predict(rows[inside]) == 1).all()


def test_rows_of_certified_parts_count_as_proven(ten_columns):
    model, rows, rules = ten_columns
    # The same search for the whole rule, which decides few rows with so few boxes.
    without, with_parts = (
        rules.certify(model, rows, max_boxes=400, max_parts=max_parts, seconds=600) for max_parts in (0, 2)
    )
    assert with_parts[0].proven_rows > without[0].proven_rows
    assert with_parts[0].proven_rows >= with_parts.n_certified_rows / with_parts[0].n_rows


def test_parts_are_widened_for_rows_that_are_not_there_yet():
    # Class 1 where x0 > 0.5, whatever the other columns are.
    network = ArrayNetwork([np.array([[8.0], [0.0], [0.0], [0.0]])], [np.array([-4.0])], output="sigmoid")
    random = np.random.RandomState(0)
    rows = np.vstack([random.uniform(size=(30, 4)), np.zeros(4), np.ones(4)])
    rules = RuleSet.from_text("IF x0 > 0.2 THEN 1", ["x0", "x1", "x2", "x3"], classes=[0, 1], default=0)

    certificate = rules.certify(network, rows, max_boxes=2_000, seconds=600)

    later = random.uniform(size=(2_000, 4))
    inside = certificate.certified(later)
    assert inside[later[:, 0] > 0.55].all()
    assert not inside[later[:, 0] < 0.5].any()


@pytest.mark.fuzz
def test_no_part_of_ten_columns_contains_a_counterexample_among_a_million(certificate, ten_columns):
    n_parts = len(certificate.shrunk())
    assert check_no_counterexample(certificate, ten_columns[0].predict, 1_000_000 // n_parts + 1) == n_parts


def test_each_part_has_rows_that_earlier_ones_do_not_have(certificate, ten_columns):
    fires = certificate.shrunk().evaluator.fires(ten_columns[1]).dense()
    assert len(fires) == 12
    for part in range(1, len(fires)):
        assert (fires[part] & ~fires[:part].any(axis=0)).any()


def test_no_random_row_or_corner_of_a_part_gets_another_class(certificate, ten_columns):
    model, random = ten_columns[0], np.random.RandomState(1)
    for part in range(len(certificate[0].parts)):
        region = certificate[0].parts.take([part])
        corners = np.where(random.random_sample((500, 10)) < 0.5, region.low, region.high)
        tries = np.vstack([corners, certificate.domain.sampled(region, 500, random)])
        assert (model.predict(tries) == 1).all()


def test_bounds_of_parts_are_short_decimals_inside_the_rule(certificate):
    widths = certificate.domain.high - certificate.domain.low
    for rule in certificate.shrunk():
        for term in rule.terms:
            for bound in (term.low, term.high):
                # Not finer than one ten-thousandth of the range of the column, or the digit after that.
                n_digits = int(np.ceil(5 - np.log10(widths[term.feature])))
                assert not np.isfinite(bound) or bound == round(bound, n_digits)
            if term.feature == 0:
                assert term.low >= -1.5


def test_the_limits_of_parts_and_boxes_are_kept(ten_columns):
    model, rows, rules = ten_columns
    few = rules.certify(model, rows, max_boxes=300, max_parts=2, seconds=600)
    assert len(few[0].parts) <= 2
    assert few[0].n_boxes <= 300
    assert len(rules.certify(model, rows, max_boxes=300, max_parts=0)[0].parts) == 0


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_decimal_beyond_a_value_is_near_it_and_has_so_many_digits(sign):
    random = np.random.RandomState(0)
    for value, n_digits in product([0.0, 0.3, -1.25, *(50 * random.normal(size=50))], [-1, 0, 2, 5]):
        decimal = _decimal_beyond(float(value), n_digits, sign)
        assert 0 < sign * (decimal - value) <= 1.001 * 10.0**-n_digits
        assert decimal == round(decimal, n_digits)


def test_a_value_that_no_decimal_is_near_has_a_neighbour():
    assert _decimal_beyond(1e300, 5, 1) == np.nextafter(1e300, np.inf)


def test_parts_grow_by_categories():
    # Predicts 1 unless both columns are "c"; the rule is wrong there only.
    random = np.random.RandomState(0)
    table = pd.DataFrame({"a": random.choice(list("abc"), 300), "b": random.choice(list("abc"), 300)})
    classes = ((table["a"] != "c") | (table["b"] != "c")).astype(int)
    network = MLPClassifier((8,), solver="lbfgs", max_iter=200, random_state=0)
    model = make_pipeline(OneHotEncoder(), network).fit(table, classes)
    features = clausewise.wrap(model).features(table)
    rules = RuleSet.from_text("IF a IN {a, b, c} THEN 1", features, classes=[0, 1], default=0)
    certificate = rules.certify(model, table, max_boxes=400)
    assert certificate[0].status == "refuted"
    assert (certificate.certified(table) == (classes == 1)).all()
    assert len(certificate.shrunk()) == 2


def test_a_rule_without_agreeing_rows_has_no_parts():
    network = ArrayNetwork([np.ones((2, 1))], [np.array([-5.0])], output="sigmoid")  # always 0 below 2.5
    rules = RuleSet.from_text("IF x0 > 0.5 THEN 1", ["x0", "x1"], classes=[0, 1], default=0)
    rows = np.random.RandomState(0).uniform(size=(100, 2))
    assert len(rules.certify(network, rows, max_boxes=100)[0].parts) == 0
