"""Counterfactuals: every change flips the decision, and no smaller one does."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.probing import probe_values
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw

from clausewise import Features, Rule, RuleSet, Term
from clausewise.analysis.counterfactual_moves import SLACK
from clausewise.rules.voting import VOTINGS

FEATURES = Features(
    ("age", "job", "smokes"), ("numeric", "categorical", "binary"), (None, ("cook", "nurse", "pilot"), None)
)
RULES = RuleSet.from_rules(
    [
        Rule((Term(0, high=47), Term(1, values=["nurse"])), "yes"),
        Rule((Term(0, low=60), Term(2, low=0)), "no"),
        Rule((Term(0, low=60), Term(1, values=["nurse"])), "maybe"),
    ],
    FEATURES,
    default="no",
)
COLUMNS = {
    "age": [40, 52, 70, 70],
    "job": ["nurse", "nurse", "cook", None],
    "smokes": [False, False, True, False],
}
TABLE = pd.DataFrame(COLUMNS, index=[7, 5, 3, 1])


def test_the_nearest_change_is_found_and_described():
    found = RULES.counterfactuals(TABLE)
    assert str(found).splitlines() == [
        "row 0: yes becomes no if age 40 → 48",
        "row 1: no becomes yes if age 52 → 47",
        "row 2: no becomes maybe if job cook → nurse and smokes true → false",
        "row 3: no; no change of up to 2 features flips it",
    ]
    assert found.units.tolist() == [13, 1, 1]
    assert [one.distance for one in found] == pytest.approx([8 / 13, 5 / 13, 2, np.inf])
    assert repr(found) == "<Counterfactuals for 3 of 4 rows>"
    assert found[1].changes[0].before == 52
    assert [one.row for one in found[:2]] == [0, 1]


def test_a_notebook_shows_the_distance_of_changes_that_were_found():
    shown = RULES.counterfactuals(TABLE)._repr_html_()
    assert [f"{8 / 13:.3g}" in shown, f"{5 / 13:.3g}" in shown] == [True, True]
    assert "inf" not in shown


def test_features_and_the_wanted_decision_can_be_limited():
    assert [one.is_found for one in RULES.counterfactuals(TABLE, max_features=1)] == [
        True,
        True,
        False,
        False,
    ]
    found = RULES.counterfactuals(TABLE, to="maybe")
    assert [one.becomes for one in found] == ["maybe", "maybe", "maybe", None]
    assert str(found[3]) == "row 3: no; no change of up to 2 features flips it to maybe"
    assert str(RULES.counterfactuals(TABLE, max_features=1)[3]).endswith("no change of one feature flips it")
    assert str(RULES.counterfactuals(TABLE, to="no")[1]) == "row 1: no already"
    with pytest.raises(ValueError, match="max_features is 3 without reference"):
        RULES.counterfactuals(TABLE, max_features=3)
    with pytest.raises(ValueError, match="'never' is not one of the classes"):
        RULES.counterfactuals(TABLE, to="never")


def test_whole_numbers_stay_whole_and_units_come_from_the_reference():
    reference = pd.DataFrame({"age": [30, 50], "job": ["cook", "nurse"], "smokes": [True, False]})
    table = TABLE.astype({"age": float})
    assert str(RULES.counterfactuals(table)[0]) == "row 0: yes becomes no if age 40 → 47.1"
    found = RULES.counterfactuals(table, reference=reference)
    assert str(found[0]) == "row 0: yes becomes no if age 40 → 48"
    assert found.units[0] == 10
    assert found[0].distance == 0.8


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, np.array], ids=["pandas", "polars", "array"])
def test_changed_rows_come_in_the_kind_of_table_given(make):
    table = (
        np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object)
        if make is np.array
        else make(COLUMNS)
    )
    found = RULES.counterfactuals(table)
    assert isinstance(found.rows, type(table))
    assert RULES.predict(found.rows).tolist() == ["no", "yes", "maybe", "no"]
    assert RULES.predict(table).tolist() == ["yes", "no", "no", "no"]


def test_frames_keep_their_index_and_types_where_they_can():
    found = RULES.counterfactuals(TABLE)
    assert found.rows.index.tolist() == [7, 5, 3, 1]
    assert found.rows["age"].dtype == TABLE["age"].dtype
    assert found.rows["age"].tolist() == [48, 47, 70, 70]
    assert found.rows["smokes"].dtype == bool
    assert found.rows["job"].isna().tolist() == [False, False, False, True]


def test_nullable_columns_with_missing_values_are_changed_in_place():
    frame = pd.DataFrame(
        {
            "age": pd.array([40, 70, None, 52], dtype="Int64"),
            "job": pd.Categorical(["nurse", "nurse", None, "cook"]),
            "smokes": pd.array([True, None, False, False], dtype="boolean"),
        }
    )
    found = RULES.counterfactuals(frame, network=RULES.predict)
    assert found.rows["smokes"].dtype == "boolean"
    assert found.rows["age"].isna().tolist() == [False, False, True, False]
    assert [one.is_confirmed for one in found] == [True, True, False, True]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"age": [80], "job": pd.Categorical(["nurse"]), "smokes": [False]}),
        pl.DataFrame({"age": [80], "job": pl.Series(["nurse"], dtype=pl.Enum(["nurse"])), "smokes": [False]}),
    ],
    ids=["pandas", "polars"],
)
def test_a_category_that_the_column_does_not_declare_is_added_to_its_type(table):
    found = RULES.counterfactuals(table, to="no", fixed=["age", "smokes"])
    assert found.rows["job"].to_list() == ["cook"]
    assert type(found.rows["job"].dtype) is type(table["job"].dtype)


def test_columns_of_single_precision_hold_the_thresholds():
    rules = RuleSet.from_rules([Rule((Term(0, high=0.1),), "a")], ["x"], default="b")
    for table in (pd.DataFrame({"x": np.float32([0.7])}), pl.DataFrame({"x": np.float32([0.7])})):
        found = rules.counterfactuals(table)
        assert found[0].changes[0].after == 0.1
        assert rules.predict(found.rows).tolist() == ["a"]


def test_new_values_are_readable():
    rules = RuleSet.from_rules([Rule((Term(0, high=0.096892178),), "a")], ["x"], default="b")
    found = rules.counterfactuals([[0.2071234567], [0.0123456789]])
    assert str(found[0]) == "row 0: b becomes a if x 0.207123 → 0.096"
    assert str(found[1]) == "row 1: a becomes b if x 0.0123457 → 0.097"
    assert found[0].changes[0].before == 0.2071234567
    near = rules.counterfactuals([[0.0960000001]], to="b")
    assert str(near).endswith("x 0.096 → 0.097")
    assert str(rules.counterfactuals([[0.0970000001]])).endswith("x 0.097 → 0.096")


def test_without_rules_nothing_changes_the_decision():
    found = RULES[:0].counterfactuals(TABLE)
    assert not any(one.is_found for one in found)


@given(
    st.integers(0, 10**6),
    st.sampled_from(VOTINGS),
    st.sampled_from([1, 2]),
    st.sampled_from([None, "class 0", "class 1"]),
)
def test_every_change_flips_the_decision_and_a_grid_finds_no_smaller_one(seed, voting, max_features, to):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    rules = random_ruleset(rng, features, int(rng.integers(1, 7)), voting=voting)
    matrix = random_table(rng, features, 3).encoded()
    matrix = np.where(np.abs(matrix) > 1e20, 0.5, matrix)
    X = raw(features, matrix)
    before = rules.predict(X)
    found = rules.counterfactuals(X, max_features=max_features, to=to)
    after = rules.predict(found.rows)
    for row, one in enumerate(found):
        assert one.prediction == before[row]
        if one.is_found:
            assert one.becomes == after[row]
            assert after[row] != before[row] if to is None else after[row] == to
            assert len(one.changes) <= max_features
        smallest = smallest_on_grid(rules, matrix[row], found.units, max_features, before[row], to)
        assert one.distance <= smallest + max_features * SLACK + 1e-9


def smallest_on_grid(rules, row, units, max_features, mine, to, is_allowed=lambda *_: True):
    """Return the smallest change of a row among all values at and next to thresholds."""
    if mine == to:
        return 0.0
    changeable = [feature for feature in range(len(row)) if np.isfinite(row[feature])]
    best = np.inf
    for chosen in itertools.combinations(changeable, min(max_features, len(changeable))):
        values = [
            [v for v in probe_values(rules, f) if np.isfinite(v) and is_allowed(f, row[f], v)] + [row[f]]
            for f in chosen
        ]
        grid = np.array(list(itertools.product(*values)))
        known = np.ones(len(grid), dtype=bool)
        cost = np.zeros(len(grid))
        changed = np.tile(row, (len(grid), 1))
        for column, feature in enumerate(chosen):
            is_changed = grid[:, column] != row[feature]
            changed[:, feature] = grid[:, column]
            if rules.features.kinds[feature] == "categorical":
                known &= ~is_changed | (grid[:, column] < 4)
                cost += is_changed
            else:
                cost += np.abs(grid[:, column] - row[feature]) / units[feature]
        decided = rules.classes[rules.evaluator.decide(changed, rules.voting, rules.default_index, 1)]
        flips = (decided == to if to is not None else decided != mine) & known
        best = min(best, cost[flips].min(initial=np.inf))
    return best
