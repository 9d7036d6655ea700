"""The compiled core against the plain NumPy reference."""

from dataclasses import replace

import numpy as np
import pytest
from tests.reference import rules as reference
from tests.rules.random_rules import random_features, random_ruleset, random_table

from clausewise import Features, Rule, RuleSet, Term, _core
from clausewise.rules.evaluator import Evaluator
from clausewise.rules.voting import VOTINGS

LAYOUTS = [(dtype, order) for dtype in (np.float64, np.float32) for order in "CF"]


def make_case(seed, n_rules, n_rows, n_features=6):
    rng = np.random.default_rng(seed)
    features = random_features(rng, n_features)
    return random_ruleset(rng, features, n_rules), random_table(rng, features, n_rows)


# Around the borders of words (64 rules or rows), chunks (512 rules), blocks (256 rows), tasks (2048 rows).
@pytest.mark.parametrize("n_rules", [0, 1, 63, 64, 65, 128, 129, 300, 512, 513, 1100])
def test_rules_fire_where_the_reference_says(n_rules):
    rules, table = make_case(n_rules, n_rules, 70)
    expected = reference.fires(list(rules), table.columns)
    for dtype, order in LAYOUTS:
        fired = rules.evaluator.fires(table.encoded(dtype, order))
        assert fired.shape == (n_rules, 70)
        np.testing.assert_array_equal(fired.dense(), expected)


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 255, 257, 2047, 2049, 4500])
def test_every_number_of_rows_is_covered(n_rows):
    rules, table = make_case(n_rows, 40, n_rows)
    expected = reference.fires(list(rules), table.columns)
    fired = rules.evaluator.fires(table.encoded(), n_jobs=4)
    np.testing.assert_array_equal(fired.dense(), expected)
    np.testing.assert_array_equal(fired.rows_per_rule(), expected.sum(axis=1))
    np.testing.assert_array_equal(fired.rules_per_row(), expected.sum(axis=0))
    np.testing.assert_array_equal(rules.evaluator.uncovered(table.encoded(), n_jobs=4), ~expected.any(axis=0))


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("seed", range(12))
def test_votes_are_those_of_the_reference(voting, seed):
    rules, table = make_case(seed, n_rules=[3, 20, 90, 700][seed % 4], n_rows=120)
    rules = rules.with_voting(voting)
    listed, labels = list(rules), rules.labels
    expected = reference.scores(listed, labels, table.columns, voting, rules.base.tolist())
    for dtype, order in LAYOUTS:
        X = table.encoded(dtype, order)
        scores = rules.evaluator.scores(X, voting)
        # Exact: integers, correctly rounded fractions, or doubles added in the same order.
        np.testing.assert_array_equal(scores, np.array(expected, dtype=np.float64))
        decisions = rules.classes[rules.evaluator.decide(X, voting, rules.default_index)]
        assert decisions.tolist() == [reference.decide(total, labels, rules.default) for total in expected]


def scores_from_bits(rules, X):
    """Weights added one rule after the other, where the tables of the core say that a rule fires."""
    scores = np.tile(rules.base, (len(X), 1))
    for rule, fires in enumerate(rules.evaluator.fires(X, n_jobs=1).dense()):
        scores[fires, rules.columns.class_index[rule]] += rules.columns.weight[rule]
    return scores


# Few rules are compared with blocks of 64 rows, in tasks of 2048; more rules use tables of bins.
@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 2047, 2049, 4500])
@pytest.mark.parametrize("n_rules", [0, 1, 16, 45, 60, 75, 200])
def test_comparing_directly_and_by_tables_gives_the_same_bits(n_rules, n_rows):
    rules, table = make_case(n_rules + n_rows, n_rules, n_rows)
    columns = replace(rules.columns, priority=np.zeros(n_rules, dtype=bool))
    rules = replace(rules, columns=columns)
    for dtype, order in LAYOUTS:
        X = table.encoded(dtype, order)
        expected = scores_from_bits(rules, X)
        for n_jobs in (1, 3):
            scores = rules.evaluator.scores(X, "weights", n_jobs)
            np.testing.assert_array_equal(scores.view(np.int64), expected.view(np.int64))


def test_few_rules_read_a_table_in_place_whatever_its_strides():
    rules, table = make_case(9, 12, 500)
    for dtype in (np.float64, np.float32):
        X = table.encoded(dtype)
        wide = np.zeros((1000, 2 * X.shape[1]), dtype=dtype)
        wide[::2, ::2] = X
        expected = rules.evaluator.scores(X, "confidence")
        np.testing.assert_array_equal(rules.evaluator.scores(wide[::2, ::2], "confidence"), expected)
        np.testing.assert_array_equal(rules.evaluator.scores(X[::-1], "confidence"), expected[::-1])
        np.testing.assert_array_equal(
            rules.evaluator.scores(np.asfortranarray(X)[3:490], "confidence"), expected[3:490]
        )


def test_many_classes_are_decided_as_the_reference_decides():
    rng = np.random.default_rng(3)
    features = random_features(rng, 5)
    rules, table = random_ruleset(rng, features, 30, n_classes=40), random_table(rng, features, 150)
    expected = reference.predict(
        list(rules), rules.labels, rules.default, table.columns, "confidence", rules.base.tolist()
    )
    found = rules.evaluator.decide(table.encoded(), "confidence", rules.default_index)
    assert rules.classes[found].tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_explanations_name_the_rules_and_terms_of_the_reference(seed):
    rules, table = make_case(seed, n_rules=[5, 70, 600, 1300][seed], n_rows=60)
    listed = list(rules)
    fired = reference.fires(listed, table.columns)
    X = table.encoded()
    for row in range(60):
        found = rules.evaluator.explain_row(X[row])
        assert found.fired.tolist() == np.flatnonzero(fired[:, row]).tolist()
        expected = reference.near_misses(listed, table.columns, row)
        assert found.near.tolist() == [number for number, _ in expected]
        failing = rules.columns.feature[found.failing_terms]
        assert failing.tolist() == [term.feature for _, term in expected]
    rows, numbers = rules.evaluator.fired(X, n_jobs=3)
    assert np.array_equal(np.stack([rows, numbers]), np.nonzero(fired.T))


@pytest.mark.parametrize("voting", VOTINGS)
def test_threads_do_not_change_any_result(voting):
    rules, table = make_case(5, 800, 9000)
    X = table.encoded()
    one, four = (
        (
            rules.evaluator.fires(X, n_jobs=n).words,
            rules.evaluator.scores(X, voting, n_jobs=n),
            rules.evaluator.decide(X, voting, rules.default_index, n_jobs=n),
            rules.evaluator.fired(X, n_jobs=n)[1],
        )
        for n in (1, 4)
    )
    for single, several in zip(one, four, strict=True):
        np.testing.assert_array_equal(single, several)


@pytest.mark.parametrize("voting", VOTINGS)
def test_a_rule_set_too_large_for_its_tables_is_evaluated_in_groups(voting):
    rules, table = make_case(6, 1300, 5000)
    X = table.encoded()
    whole = rules.evaluator
    grouped = Evaluator(rules.columns, rules.features, len(rules.labels), rules.base, max_table_bytes=1)
    np.testing.assert_array_equal(whole.fires(X).words, grouped.fires(X, n_jobs=2).words)
    np.testing.assert_array_equal(whole.scores(X, voting), grouped.scores(X, voting, n_jobs=2))
    np.testing.assert_array_equal(
        whole.decide(X, voting, rules.default_index), grouped.decide(X, voting, rules.default_index, n_jobs=2)
    )
    for one, other in zip(whole.fired(X), grouped.fired(X, n_jobs=2), strict=True):
        np.testing.assert_array_equal(one, other)


def test_threads_build_the_tables_of_a_group():
    rules, table = make_case(7, 2100, 300)
    X = table.encoded()
    # Five chunks of rules, in groups of two.
    grouped = Evaluator(rules.columns, rules.features, len(rules.labels), rules.base, max_table_bytes=10**6)
    np.testing.assert_array_equal(rules.evaluator.fires(X).words, grouped.fires(X, n_jobs=4).words)


# Thresholds that defeat equal-width buckets: heaps, overflowing spans, neighbouring doubles, denormals.
@pytest.mark.parametrize(
    "thresholds",
    [
        np.concatenate([np.linspace(0, 1e-9, 60), [1e6]]),
        np.array([-1.7e308, 0.0, 1.7e308]),
        np.array([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0)]),
        np.arange(40) * 5e-324,
        np.geomspace(1e-300, 1e300, 61),
        np.linspace(-3, 3, 400),
    ],
    ids=["heap", "overflow", "neighbours", "denormals", "powers", "even"],
)
def test_any_spacing_of_thresholds_is_binned_exactly(thresholds):
    thresholds = np.unique(thresholds)
    ends = [*thresholds[1:], np.inf]
    rules = [Rule((Term(0, low=a, high=b),), "in") for a, b in zip(thresholds, ends, strict=True)]
    values = np.concatenate(
        [
            thresholds,
            np.nextafter(thresholds, np.inf),
            np.nextafter(thresholds, -np.inf),
            [np.nan, np.inf, -np.inf],
        ]
    )
    fired = RuleSet.from_rules(rules, ["x"], default="in").fires(values[:, None]).dense()
    np.testing.assert_array_equal(fired, reference.fires(rules, [values]))


def test_a_table_is_read_in_place_whatever_its_strides():
    rules, table = make_case(8, 50, 300)
    X = table.encoded()
    wide = np.zeros((600, 2 * X.shape[1]))
    wide[::2, ::2] = X
    reversed_rows = X[::-1]
    np.testing.assert_array_equal(rules.evaluator.fires(wide[::2, ::2]).words, rules.evaluator.fires(X).words)
    np.testing.assert_array_equal(
        rules.evaluator.fires(reversed_rows).dense(), rules.evaluator.fires(X).dense()[:, ::-1]
    )


def test_float32_rows_are_compared_as_the_doubles_they_are():
    value = np.float32(0.1)  # 0.10000000149…, above the double 0.1
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=0.1),), "low")], ["x"], default="high", classes=["high", "low"]
    )
    assert rules.predict(np.array([[value]], dtype=np.float32)).tolist() == ["high"]
    assert rules.predict(np.array([[0.1]])).tolist() == ["low"]


def test_a_lower_bound_that_is_open_accepts_minus_infinity():
    rules = RuleSet.from_rules([Rule((Term(0, high=5),), "yes")], ["x"], default="no")
    assert rules.predict([[-np.inf], [np.inf], [np.nan], [5.0]]).tolist() == ["yes", "no", "no", "yes"]


def test_a_term_open_on_both_sides_asks_whether_the_value_is_known():
    rules = RuleSet.from_rules([Rule((Term(0),), "known")], ["x"], default="missing")
    assert rules.predict([[-np.inf], [np.inf], [np.nan], [5.0]]).tolist() == [
        "known",
        "known",
        "missing",
        "known",
    ]


def test_missing_values_can_be_tested_for():
    features = Features(("x", "job"), ("numeric", "categorical"), (None, ("cook", "nurse")))
    rules = RuleSet.from_arrays(
        features, ["no", "yes"], "no",
        starts=[0, 1, 2, 4], feature=[0, 1, 0, 1], low=[-np.inf, -np.inf, 3.0, -np.inf], high=[np.inf] * 4,
        missing=[True, True, False, True], class_index=[1, 1, 1],
    )  # fmt: skip
    rows = np.array([[None, "cook"], [5, None], [np.inf, "astronaut"], [np.nan, np.nan]], dtype=object)
    expected = [[True, False, False, True], [False, True, False, True], [False, True, False, False]]
    np.testing.assert_array_equal(rules.fires(rows).dense(), expected)
    near = rules.explain(rows[2:3])[0].near_misses[-1]
    assert near.reason == "job is missing fails (job is a category unknown in training)"


def test_a_bit_matrix_has_a_dense_view():
    rules, table = make_case(9, 10, 100)
    fired = rules.evaluator.fires(table.encoded())
    np.testing.assert_array_equal(np.asarray(fired), fired.dense())
    np.testing.assert_array_equal(np.asarray(fired, dtype=np.int8), fired.dense().astype(np.int8))
    np.testing.assert_array_equal(fired[3], fired.dense()[3])
    assert len(fired) == 10
    assert repr(fired) == "<BitMatrix: 10 rules × 100 rows>"
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(fired, copy=False)


def test_the_core_refuses_arrays_that_do_not_fit():
    rules, table = make_case(1, 5, 10)
    index, X = rules.evaluator._index, table.encoded()
    with pytest.raises(ValueError, match="one column per feature"):
        index.uncovered(X[:, :-1], np.ones(10, np.uint8), 1)
    with pytest.raises(ValueError, match="wrong size"):
        index.uncovered(X, np.ones(9, np.uint8), 1)
    with pytest.raises(ValueError, match="unknown class index"):
        index.scores(X, np.full(5, 7, np.int32), np.ones(5), np.ones(3), np.zeros(3), np.zeros((10, 3)), 1)
    with pytest.raises(ValueError, match="base_of_class must have one entry per class"):
        index.scores(X, np.zeros(5, np.int32), np.ones(5), np.ones(3), np.zeros(2), np.zeros((10, 3)), 1)
    with pytest.raises(TypeError):
        index.uncovered(np.zeros(X.shape, np.int64), np.ones(10, np.uint8), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": [0, 9]}, "span the terms"),
        ({"feature": [5, 1]}, "unknown feature"),
        ({"feature": [0, 0], "value_set": [-1, -1]}, "sorted by feature"),
        ({"low": [np.nan, -np.inf]}, "NaN"),
        ({"value_set": [0, 0]}, "categorical"),
        ({"value_set": [-1, 3]}, "unknown value set"),
        ({"set_codes": [9]}, "unknown category code"),
        ({"missing": [0, 1]}, "has no value set"),
        ({"missing": [0]}, "differ in length"),
    ],
)
def test_the_core_checks_premises_before_it_trusts_them(change, message):
    make_index = _core.RuleIndex
    good = {
        "starts": np.array([0, 2], np.int64),
        "feature": np.array([0, 1], np.int32),
        "low": np.array([0.0, -np.inf]),
        "high": np.array([1.0, np.inf]),
        "value_set": np.array([-1, 0], np.int32),
        "missing": np.array([0, 0], np.uint8),
        "set_starts": np.array([0, 1], np.int64),
        "set_codes": np.array([1], np.int32),
        "n_categories": np.array([-1, 2], np.int32),
    }
    make_index(**good, group_bytes=1000)
    bad = {name: np.asarray(value, good[name].dtype) for name, value in change.items()}
    with pytest.raises(ValueError, match=message):
        make_index(**(good | bad), group_bytes=1000)


def test_a_categorical_feature_without_categories_fails_every_term():
    features = Features(("job",), ("categorical",), ((),))
    rules = RuleSet.from_rules([Rule((Term(0, values=[]),), "yes")], features, default="no")
    assert rules.predict(np.array([["nurse"], [None]], dtype=object)).tolist() == ["no", "no"]
