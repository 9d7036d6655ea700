"""Counterfactuals change only what may change, to values that are allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.test_counterfactuals import FEATURES, RULES, TABLE, smallest_on_grid
from tests.rules.random_rules import JOBS, random_features, random_ruleset, random_table, raw

from clausewise import Features, Rule, RuleSet, Term
from clausewise.analysis.counterfactual_moves import SLACK

AGES = RuleSet.from_rules(
    [Rule((Term(0, high=20.0),), "low"), Rule((Term(0, low=60.0),), "high")], ["age"], default="middle"
)


def texts(found):
    return [str(one).partition(": ")[2] for one in found]


def test_fixed_features_keep_their_values():
    found = RULES.counterfactuals(TABLE, fixed=["age"])
    assert texts(found)[:2] == [
        "yes becomes no if job nurse → cook",
        "no; no change of up to 2 features flips it",
    ]
    assert texts(RULES.counterfactuals(TABLE, fixed=["age", "job", "smokes"])) == [
        f"{label}; no change of up to 2 features flips it" for label in ("yes", "no", "no", "no")
    ]


def test_features_can_be_limited_to_one_direction():
    X = [[40.0]]
    assert texts(AGES.counterfactuals(X)) == ["middle becomes low if age 40 → 20"]
    assert texts(AGES.counterfactuals(X, increase_only=["age"])) == ["middle becomes high if age 40 → 60.1"]
    assert texts(AGES.counterfactuals(X, decrease_only=[0], to="high")) == [
        "middle; no change of up to 2 features flips it to high"
    ]


def test_a_binary_feature_has_a_direction_too():
    rules = RuleSet.from_rules([Rule((Term(2, low=0),), "ill")], FEATURES, default="well")
    found = rules.counterfactuals(TABLE, increase_only=["smokes"])
    assert [one.becomes for one in found] == ["ill", "ill", None, "ill"]


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ((30, 75), "middle becomes high if age 40 → 60.1"),
        ((None, 15.5), "middle becomes low if age 40 → 15.5"),
        ((63.25, None), "middle becomes high if age 40 → 63.3"),
        ([10, 12, 64, 70], "middle becomes high if age 40 → 64"),
        ([19.5], "middle becomes low if age 40 → 19.5"),
        ((30, 50), "middle; no change of up to 2 features flips it"),
    ],
)
def test_numbers_can_be_limited_to_a_range_or_a_list(allowed, expected):
    assert texts(AGES.counterfactuals([[40.0]], allowed={"age": allowed})) == [expected]


def test_categories_can_be_limited_to_a_list():
    found = RULES.counterfactuals(TABLE[:1], fixed=["age"], allowed={"job": ["pilot", "nurse"]})
    assert texts(found) == ["yes becomes no if job nurse → pilot"]


def test_changes_stay_in_the_range_of_the_reference():
    reference = [[15.0], [40.0], [60.0]]
    assert texts(AGES.counterfactuals([[40.0]], to="high", reference=reference)) == [
        "middle; no change of up to 2 features flips it to high"
    ]
    # A row outside of it may come closer, but not go further out.
    outside = AGES.counterfactuals([[75.0], [5.0]], reference=reference)
    assert texts(outside) == ["high becomes middle if age 75 → 60", "low becomes middle if age 5 → 21"]
    closer = AGES.counterfactuals([[75.0]], to="high", reference=reference, allowed={"age": (None, 70)})
    assert texts(closer) == ["high already"]


def test_a_readable_value_does_not_leave_the_range():
    rules = RuleSet.from_rules([Rule((Term(0, low=59.994),), "high")], ["age"], default="low")
    found = rules.counterfactuals([[40.5]], reference=[[20.5], [59.996]])
    assert texts(found) == ["low becomes high if age 40.5 → 59.995"]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"fixed": ["size"]}, "There is no column 'size'; the columns are 'age', 'job', 'smokes'"),
        ({"fixed": "age"}, "fixed is 'age'; expected a list of features"),
        (
            {"increase_only": ["age"], "decrease_only": ["age"]},
            "is in increase_only and in decrease",
        ),
        ({"fixed": [0], "increase_only": ["age"]}, "'age' is in fixed and in increase_only"),
        ({"fixed": ["job"], "allowed": {"job": ["cook"]}}, "'job' is in fixed and in allowed"),
        ({"decrease_only": ["job"]}, "its categories have no order"),
        ({"allowed": [("age", 3)]}, "allowed is .* expected a mapping"),
        ({"allowed": {"job": ["cook", "clown"]}}, "has 'clown'; expected categories of 'job'"),
        ({"allowed": {"job": "cook"}}, "is 'cook'; expected a list"),
        ({"allowed": {"job": []}}, "expected a list"),
        ({"allowed": {"age": (65, 18)}}, "the lower bound comes first"),
        ({"allowed": {"age": (18, 30, 65)}}, r"expected \(low, high\)"),
        ({"allowed": {"age": ["old"]}}, "has 'old'; expected finite numbers"),
        ({"allowed": {"smokes": [2]}}, "has 2; expected True, False, 1 or 0"),
        ({"allowed": {"age": (80, None)}, "reference": TABLE}, "values in reference are .* from 40 to 70"),
        ({"allowed": {"age": [45.5]}, "reference": TABLE}, "values in reference are whole numbers"),
        ({"max_queries": 0}, "max_queries is 0; expected a whole number of 1 or more"),
    ],
)
def test_limits_that_cannot_be_met_are_refused(limits, message):
    with pytest.raises(ValueError, match=message):
        RULES.counterfactuals(TABLE, **limits)


@pytest.mark.parametrize(("n_categories", "end"), [(8, r"'h'\)"), (9, r"'h', …\)")])
def test_up_to_eight_categories_are_listed_in_messages(n_categories, end):
    features = Features(("job",), ("categorical",), (tuple("abcdefghi"[:n_categories]),))
    rules = RuleSet.from_rules([Rule((Term(0, values=["a"]),), "yes")], features, default="no")
    with pytest.raises(ValueError, match=rf"expected categories of 'job' \('a', .*{end}"):
        rules.counterfactuals([["b"]], allowed={"job": ["clown"]})


@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
def test_every_change_is_allowed_and_no_smaller_one_on_a_grid_is(seed, max_features):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    rules = random_ruleset(rng, features, int(rng.integers(1, 7)))
    matrix = random_table(rng, features, 2).encoded()
    matrix = np.where(np.abs(matrix) > 1e20, 0.5, matrix)
    limits = random_limits(rng, features)
    found = rules.counterfactuals(raw(features, matrix), max_features=max_features, **limits)
    decided = rules.predict(found.rows)

    def is_allowed(feature, before, after):
        name = features.names[feature]
        allowed = limits["allowed"].get(name)
        if features.kinds[feature] == "categorical":
            after_value = JOBS[int(after)] if after < len(JOBS) else None
            fits = allowed is None or after_value in allowed
        else:
            fits = allowed is None or (allowed[0] <= after <= allowed[1])
        is_down = name in limits["decrease_only"] and after > before
        is_up = name in limits["increase_only"] and after < before
        return after == before or (fits and name not in limits["fixed"] and not is_down and not is_up)

    for row, one in enumerate(found):
        if one.is_found:
            assert decided[row] == one.becomes != one.prediction
        for change in one.changes:
            feature = features.index(change.feature)
            listed = features.categories[feature]
            after = float(change.after) if listed is None else float(listed.index(change.after))
            assert is_allowed(feature, matrix[row, feature], after)
        smallest = smallest_on_grid(
            rules, matrix[row], found.units, max_features, one.prediction, None, is_allowed
        )
        assert one.distance <= smallest + max_features * SLACK + 1e-9


def random_limits(rng, features):
    limits = {"fixed": [], "increase_only": [], "decrease_only": [], "allowed": {}}
    for name, kind in zip(features.names, features.kinds, strict=True):
        if kind == "categorical":
            place = rng.choice(["fixed", "allowed", "free"])
            values = [job for job in JOBS if rng.random() < 0.5] or [JOBS[0]]
        else:
            place = rng.choice(["fixed", "increase_only", "decrease_only", "allowed", "free"])
            values = tuple(sorted(rng.choice([-2.5, -0.5, 0.1, 0.7, 3.0], 2).tolist()))
        if place == "allowed":
            limits["allowed"][name] = (0, 1) if kind == "binary" else values
        elif place != "free":
            limits[place].append(name)
    return limits


def test_an_error_about_the_reference_names_it():
    with pytest.raises(ValueError, match="reference has 2 columns, but the rules were learnt from 1"):
        AGES.counterfactuals([[40.0]], reference=[[1.0, 2.0]])
