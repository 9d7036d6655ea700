"""The core against the literal reference, on random data of all kinds."""

import warnings

import numpy as np
import pytest

from clausewise import C50Classifier
from tests.induction import golden
from tests.induction.random_cases import (
    described,
    difference_of_boosted_case,
    difference_of_case,
    difference_of_models,
    reference_model,
)
from tests.reference import c50


@pytest.mark.parametrize("first_seed", range(0, 150, 25))
def test_random_models_equal_the_reference(first_seed):
    assert differing_seeds(range(first_seed, first_seed + 25)) == {}


@pytest.mark.parametrize("first_seed", range(1_050, 1_150, 25))
def test_rules_of_small_trees_counted_as_for_large_ones_are_the_same(first_seed):
    # Seed 1061 has blocks of missing values and values that are all above a threshold.
    assert differing_seeds(range(first_seed, first_seed + 25), always_in_leaf_order=True) == {}


@pytest.mark.fuzz
@pytest.mark.parametrize("always_in_leaf_order", [False, True])
@pytest.mark.parametrize("first_seed", range(1_000, 21_000, 500))
def test_many_random_models_equal_the_reference(first_seed, always_in_leaf_order):
    assert differing_seeds(range(first_seed, first_seed + 500), always_in_leaf_order) == {}


@pytest.mark.parametrize("first_seed", range(0, 75, 25))
def test_random_boosted_models_equal_the_reference(first_seed):
    assert differing_boosted_seeds(range(first_seed, first_seed + 25)) == {}


@pytest.mark.fuzz
@pytest.mark.parametrize("first_seed", range(1_000, 7_000, 250))
def test_many_random_boosted_models_equal_the_reference(first_seed):
    # Up to nine classifiers each: 17,098 of them in all.
    assert differing_boosted_seeds(range(first_seed, first_seed + 250)) == {}


@pytest.mark.parametrize(
    "file", ["m_iris10.json", "c_two.json", "c_five.json", "d_mixed.json", "w_iris.json"]
)
def test_the_reference_itself_equals_c50(file):
    collection, data = golden.read(golden.SELECTION, file)
    for run in collection["runs"]:
        found = described(reference_model(data, run["options"]))
        if file == "d_mixed.json":
            found = with_value_names(found, data.values)
        assert golden.first_difference(found, golden.expected_model(run["model"])) is None, run["id"]


@pytest.mark.parametrize("share", [0.5, 0.08, 0.01, 0.002])
@pytest.mark.parametrize("repeats", ["none", "zeros", "a few", "many"])
def test_rare_classes_give_the_same_model_as_common_ones_do(share, repeats):
    # Two paths of the core evaluate cuts: all of them, or those next to a rare class. Both must agree with
    # the reference on columns with every kind of repetition, at the root and below.
    rng = np.random.default_rng(int(1000 * share) + len(repeats))
    table = rng.normal(size=(3000, 4))
    if repeats == "zeros":
        table = np.maximum(table, 0)
    elif repeats == "a few":
        table[:100] = table[100:200]
    elif repeats == "many":
        table = np.round(table, 1)
    score = table[:, 0] + np.sin(3 * table[:, 1]) + 0.1 * rng.normal(size=3000)
    classes = (score < np.quantile(score, 1 - share)).astype(np.int32)
    data = golden.DataSet(table, [None] * 4, classes, 2, None, None)
    for options in ({"winnow": False, "minCases": 2}, {"winnow": True, "minCases": 10}):
        assert tree_difference(data, options) is None


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("repeats", ["none", "zeros", "many"])
@pytest.mark.parametrize("weights", ["any", "of each class", "of different size", "whose sums are rounded"])
def test_weighted_cases_give_the_tree_of_the_reference(weights, repeats, missing):
    # With at least a thousand cases per class, columns are excluded by bounds, and cuts are skipped.
    rng = np.random.default_rng(len(weights) + len(repeats))
    table = rng.normal(size=(2400, 5))
    if repeats == "zeros":
        table = np.maximum(table, 0)
    elif repeats == "many":
        table = np.round(table, 1)
    score = table[:, 0] + np.sin(3 * table[:, 1]) + rng.normal(size=2400)
    if missing:
        table[rng.random(2400) < 0.05, 0] = np.nan
    classes = (score > np.median(score)).astype(np.int32)
    of_case = {
        "any": rng.uniform(0.5, 2, 2400),
        "of each class": np.where(classes == 1, 3.3, 1.0),
        "of different size": np.exp(2 * rng.normal(size=2400)),
        "whose sums are rounded": 10.0 ** rng.uniform(-6, 6, 2400),
    }[weights]
    data = golden.DataSet(table, [None] * 5, classes, 2, of_case, None)
    assert tree_difference(data, {"winnow": repeats == "none", "minCases": 2}) is None


@pytest.mark.parametrize("min_cases", [2, 12])
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("weights", ["any", "of each class", "whose sums are rounded"])
def test_weighted_cases_give_the_rules_of_the_reference(weights, repeats, min_cases):
    # Rows of one class that the same rules cover are merged if sums of weights are exact.
    rng = np.random.default_rng(min_cases)
    table = rng.normal(size=(900, 4))
    if repeats:
        table = np.round(table, 1)
    classes = (table[:, 0] + np.sin(3 * table[:, 1]) + 0.7 * rng.normal(size=900) > 0.5).astype(np.int32)
    of_case = {
        "any": rng.uniform(0.5, 2, 900),
        "of each class": np.where(classes == 1, 3.3, 1.0),
        "whose sums are rounded": 10.0 ** rng.uniform(-6, 6, 900),
    }[weights]
    data = golden.DataSet(table, [None] * 4, classes, 2, of_case, None)
    run = {
        "rules": True,
        "minCases": min_cases,
        "CF": 0.5,
        "winnow": not repeats,
        "noGlobalPruning": False,
        "subset": True,
        "sample": 0.0,
        "seed": 0,
    }
    assert difference_of_models(golden.fit(data, run), reference_model(data, run), data) is None


def test_branches_too_light_to_count_can_lower_the_errors_of_a_node():
    # Costs divide the minimum of cases by nearly 50: it is below the least weight of a branch that counts.
    columns = ["101000101100", "100000111100", "101101100011", "110101000000", "010101110010"]
    table = np.array([list(map(float, column)) for column in columns]).T
    classes = np.array([1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1], dtype=np.int32)
    weights = np.ones(12, dtype=np.float32)
    weights[[3, 4, 11]] = 0.000166349, 0.000177483, 0.000295484
    costs = np.array([0.0, 47.1966, 1.0, 0.0], dtype=np.float32)  # by predicted, then actual class
    data = golden.DataSet(table, [None] * 5, classes, 2, weights, costs)
    assert tree_difference(data, {"winnow": False, "minCases": 1, "noGlobalPruning": True}) is None


def tree_difference(data, options):
    """Return the first difference between the trees of the core and of the reference, or None."""
    run = {
        "rules": False,
        "CF": 0.25,
        "noGlobalPruning": False,
        "subset": True,
        "sample": 0.0,
        "seed": 0,
    } | options
    found = golden.described_tree(golden.fit(data, run), data.values)
    return golden.first_difference(found, described(reference_model(data, run)))


def test_rules_of_several_classes_vote_as_in_the_reference():
    rng = np.random.default_rng(0)
    table = np.round(rng.normal(size=(300, 3)), 1)
    score = table[:, 0] + table[:, 1] * table[:, 2] + 0.5 * rng.normal(size=300)
    data = golden.DataSet(table, [None] * 3, (score > 0).astype(np.int32), 2, None, None)
    run = {
        "rules": True,
        "minCases": 2,
        "CF": 0.25,
        "winnow": False,
        "noGlobalPruning": False,
        "subset": True,
        "sample": 0.0,
        "seed": 0,
    }
    model = C50Classifier().fit(table, data.classes)
    classes, probabilities = c50.predict(reference_model(data, run), list(table.T))
    assert ((probabilities > 0) & (probabilities < 1)).any()  # where rules of both classes fire
    np.testing.assert_array_equal(model.predict(table), classes)
    np.testing.assert_allclose(model.predict_proba(table), probabilities, rtol=1e-12)


@pytest.mark.parametrize("winnow", [False, True])
def test_more_rows_than_sixteen_bits_count_give_the_same_tree_as_the_reference(winnow):
    # More than 2^16 rows, rows of each class, and rows with one value: none of these fits in 16 bits.
    rng = np.random.default_rng(0)
    n_rows = 3 * 2**16
    table = rng.normal(size=(n_rows, 5)).astype(np.float32).astype(float)
    table[:, 1] = np.maximum(table[:, 1] - 0.5, 0)
    table[:, 2] = np.round(table[:, 2], 2)
    score = table[:, 0] + 2 * table[:, 1] + table[:, 2] * (table[:, 0] > 0)
    classes = (score + 0.3 * rng.normal(size=n_rows) > 0.2).astype(np.int32)
    data = golden.DataSet(table, [None] * 5, classes, 2, None, None)
    run = {
        "rules": False,
        "minCases": 1000,
        "CF": 0.25,
        "winnow": winnow,
        "noGlobalPruning": False,
        "subset": True,
        "sample": 0.0,
        "seed": 0,
    }
    found = golden.described_tree(golden.fit(data, run), data.values)
    assert golden.first_difference(found, described(reference_model(data, run))) is None


def differing_seeds(seeds, always_in_leaf_order=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reference divides by zero where IEEE arithmetic says what to do
        found = {seed: difference_of_case(seed, always_in_leaf_order=always_in_leaf_order) for seed in seeds}
    return {seed: difference for seed, difference in found.items() if difference is not None}


def differing_boosted_seeds(seeds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        found = {seed: difference_of_boosted_case(seed) for seed in seeds}
    return {seed: difference for seed, difference in found.items() if difference is not None}


def with_value_names(part, values):
    """Codes of discrete columns replaced by the names that golden files have."""
    if isinstance(part, list):
        return [with_value_names(each, values) for each in part]
    if not isinstance(part, dict):
        return part
    named = {key: with_value_names(value, values) for key, value in part.items()}
    if "value" in part:
        names, codes = values[part["feature"]], part["value"]
        named["value"] = [names[v] for v in codes] if isinstance(codes, list) else names[codes]
    if "subsets" in part:
        named["subsets"] = [[values[part["feature"]][v] for v in subset] for subset in part["subsets"]]
    return named
