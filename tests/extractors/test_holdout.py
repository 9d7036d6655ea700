"""`extract(…, holdout=…)`: rules that carry a guarantee counted on rows that they never saw."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from clausewise import extract

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=600), "b": RNG.normal(size=600)})
Y = np.where(X["a"] + 0.3 * X["b"] > 0, "yes", "no")
MODEL = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, Y)


def learnt(rules, rows):
    return rules.learnt_rows.look_up(rules.features.names, rules.features.encode(rows))[0]


def test_rules_are_learnt_from_the_others_and_measured_on_the_held_out():
    rules = extract(MODEL, X, holdout=0.25, max_rules=4)
    held_out = X[~learnt(rules, X)]
    assert len(held_out) == rules.guaranteed.n_rows == 150
    assert rules.guaranteed.whole == rules.guarantee(held_out, MODEL).whole
    assert "on 150 fresh rows: " in str(rules)


def test_the_same_seed_holds_out_the_same_rows():
    one, same, other = (extract(MODEL, X, holdout=0.25, max_rules=2, random_state=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.guaranteed == same.guaranteed
    assert (learnt(one, X) != learnt(other, X)).any()


def test_labels_are_divided_with_the_rows():
    rules = extract(MODEL.predict(X), X, holdout=0.25, max_rules=4)
    held_out = X[~learnt(rules, X)]
    assert rules.guaranteed.whole == rules.guarantee(held_out, MODEL).whole


def test_a_model_that_is_not_fitted_is_trained_without_the_held_out_rows():
    seen = []

    class Recorded(DecisionTreeClassifier):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    rules = extract(Recorded(max_depth=4), X, y=pd.Series(Y), holdout=0.25, max_rules=4)
    assert [len(rows) for rows in seen] == [450]
    assert learnt(rules, seen[0]).all()


def test_groups_are_held_out_as_a_whole():
    groups = np.arange(600) // 3
    rules = extract(MODEL, X, holdout=0.25, groups=groups, max_rules=4)
    is_learnt = learnt(rules, X).reshape(-1, 3)
    assert (is_learnt.all(axis=1) | ~is_learnt.any(axis=1)).all()
    assert rules.guaranteed.n_rows == 50  # one row of each group


def test_numbers_need_a_tolerance():
    numbers = X["a"].round(1).to_numpy()
    model = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, numbers)
    rules = extract(model, X, holdout=0.25, tolerance=0.2, max_rules=4)
    assert rules.guaranteed.tolerance == 0.2
    assert rules.guaranteed.n_rows == 150
    two = extract(
        DecisionTreeRegressor(max_depth=2).fit(X, np.column_stack([numbers, -numbers])),
        X,
        method="regression",
        output=1,
        holdout=0.25,
        tolerance=0.5,
        max_rules=4,
    )
    assert two.guaranteed.fidelity.fraction > 0.9
    tree = DecisionTreeRegressor(max_depth=2).fit(X, numbers)
    with pytest.raises(ValueError, match="pass tolerance"):
        extract(tree, X, holdout=0.25, max_rules=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holdout": 0.0}, "holdout is 0.0"),
        ({"holdout": 1.0}, "holdout is 1.0"),
        ({"holdout": 0.2, "sample_weight": np.ones(600)}, "no exact bounds"),
        ({"holdout": 0.2, "groups": np.zeros(600)}, "at least 2 groups"),
        ({"holdout": 0.2, "groups": [1]}, "groups has shape"),
        ({"groups": np.zeros(600)}, "pass holdout"),
        ({"holdout": 0.2, "tolerance": 1.0}, "tolerance is for rules that predict numbers"),
    ],
)
def test_what_cannot_be_held_out_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        extract(MODEL, X, **options)
