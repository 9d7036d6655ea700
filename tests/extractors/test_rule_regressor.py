"""Rules that add numbers, from models that return numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import clausewise
from clausewise import ExtractionWarning, RegressionRules, RuleRegressor
from clausewise.networks import ArrayNetwork, CallableNetwork
from tests.parameters import check_estimator_constraints

N_ROWS = 900
WEIGHTS = "weights count beside the number of rows, so that a weight of 2 is not the same as two rows"


@parametrize_with_checks(
    [
        RuleRegressor(max_rules=4, synthetic=0),
        RuleRegressor(max_rules=3, linear=True, loss="huber", synthetic=0),
    ],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": WEIGHTS},
)
@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


def test_every_parameter_has_a_constraint():
    check_estimator_constraints(RuleRegressor, ("network", "layers"))


@pytest.fixture(scope="module")
def table():
    """Return a table with numbers, categories and missing values, and steps that depend on all of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.integers(0, 21, N_ROWS) / 2,
            "age": rng.integers(1, 60, N_ROWS).astype(float),
            "town": rng.choice(["north", "south", "east", "west"], N_ROWS),
        }
    )
    frame.loc[rng.random(N_ROWS) < 0.2, "age"] = np.nan
    y = 2.0 + 1.5 * (frame.income > 6) - 0.75 * frame.town.isin(["north", "east"]) + 0.5 * frame.age.isna()
    return frame, y.to_numpy()


@pytest.fixture(scope="module")
def network():
    """Return a trained network, and its rows."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(600, 4)).astype(np.float32)
    y = 3 * np.sin(3 * X[:, 0]) + 2 * X[:, 1] + (X[:, 2] > 0.5)
    with pytest.warns(ConvergenceWarning):
        return MLPRegressor(hidden_layer_sizes=(16, 8), max_iter=150, random_state=0).fit(X, y), X


def test_steps_are_found_with_categories_and_missing_values(table):
    X, y = table
    model = RuleRegressor(max_rules=4, penalty=1e-3).fit(X, y)
    assert model.score(X, y) > 0.999
    assert {term.name for rule in model.rules_ for term in rule.terms} == {"income", "age", "town"}
    additions = np.abs([rule.addition for rule in model.rules_])
    assert sorted(additions.tolist()) == [0.5, 0.75, 1.5]


def test_additions_have_two_or_three_digits_and_sums_are_those_of_the_rules(table):
    X, y = table
    rules = RuleRegressor(max_rules=4).fit(X, 100 * y).rules_
    assert all(len(f"{rule.addition:g}".strip("-").replace(".", "").strip("0")) <= 3 for rule in rules)
    total = rules.base + rules.fires(X).dense().T @ [rule.addition for rule in rules]
    assert rules.predict(X) == pytest.approx(total)


def test_statistics_are_counted_on_the_rows_learnt_from(table):
    X, y = table
    weights = np.where(X.income > 5, 2.0, 1.0)
    rules = RuleRegressor(max_rules=2).fit(X, y, sample_weight=weights).rules_
    for rule, fires in zip(rules, rules.fires(X).dense(), strict=True):
        assert rule.cover == pytest.approx(weights[fires].sum())
        assert rule.mean == pytest.approx(np.average(y[fires], weights=weights[fires]))
    assert rules.response_range == (y.min(), y.max())


def test_weighted_rows_count_as_often_as_their_weight_says():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(400, 2))
    y = np.where(X[:, 0] > 0.5, 1.0, 0.0)
    y[::4] = 9.0  # rows of weight 0
    weights = np.tile([0.0, 1.0, 3.0, 1.0], 100)
    model = RuleRegressor(max_rules=2).fit(X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(400), weights.astype(int))
    again = RuleRegressor(max_rules=2).fit(X[repeated], y[repeated])
    assert model.predict(X) == pytest.approx(again.predict(X), abs=0.05)
    assert model.predict(X).max() < 2


def test_the_linear_part_recovers_coefficients_and_rules_the_rest():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.uniform(-1, 1, (800, 4)), columns=list("abcd"))
    y = 3 * X.a - 2 * X.b + (X.c > 0.2)
    model = RuleRegressor(max_rules=4, linear=2, penalty=1.0).fit(X, y)
    found = {term.name: term.coefficient for term in model.rules_.linear}
    assert found == pytest.approx({"a": 3.0, "b": -2.0}, rel=0.02)
    assert [term.name for rule in model.rules_ for term in rule.terms] == ["c"]
    assert model.score(X, y) > 0.999
    assert len(RuleRegressor(max_rules=4, linear=1).fit(X, y).rules_.linear) == 1
    assert RuleRegressor(max_rules=4).fit(X, y).rules_.linear == ()


def test_a_linear_part_is_limited_to_the_range_of_most_rows_and_fills_missing_values():
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 1, (1000, 1))
    y = 2 * X[:, 0]
    X[0], X[1] = 1e6, np.nan
    model = RuleRegressor(max_rules=1, linear=True).fit(X, y)
    assert model.predict([[1e9], [-1e9], [np.nan]]) == pytest.approx([2.0, 0.0, 1.0], abs=0.2)
    assert model.score(X[2:], y[2:]) > 0.99


def test_the_linear_part_of_a_wide_table_has_the_columns_that_matter():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 90))
    model = RuleRegressor(max_rules=1, linear=2).fit(X, 2 * X[:, 70] - X[:, 5])
    assert {term.feature for term in model.rules_.linear} == {5, 70}


def test_conditions_are_limited(network):
    model, X = network
    for linear in (False, True):
        rules = RuleRegressor(model, max_conditions=15, linear=linear).fit(X).rules_
        assert 10 < rules.reading_cost <= 15


def test_robust_losses_ignore_wild_values():
    rng = np.random.default_rng(6)
    X = rng.uniform(size=(600, 2))
    truth = np.where(X[:, 0] > 0.5, 1.0, 0.0) + 0.1 * rng.normal(size=600)
    y = truth.copy()
    y[rng.random(600) < 0.05] += 500
    error = {
        loss: np.abs(RuleRegressor(max_rules=2, loss=loss).fit(X, y).predict(X) - truth).mean()
        for loss in ("squared", "huber", "absolute")
    }
    assert error["huber"] < 0.2 > error["absolute"]
    assert error["squared"] > 5


def test_counts_are_predicted_as_powers_of_e():
    rng = np.random.default_rng(7)
    X = rng.integers(0, 11, (1500, 2)) / 10
    mean = np.exp(np.where(X[:, 0] > 0.5, 2.0, 0.5) + np.where(X[:, 1] > 0.3, 0.4, 0.0))
    model = RuleRegressor(max_rules=2, loss="poisson", penalty=0.1).fit(X, rng.poisson(mean))
    assert model.rules_.link == "log"
    assert model.predict(X) == pytest.approx(mean, rel=0.15)
    with pytest.raises(ValueError, match=r"poisson.* not negative, but the smallest is -1"):
        RuleRegressor(loss="poisson").fit(X, np.full(1500, -1.0))


def test_the_same_rules_for_any_number_of_threads(network, monkeypatch):
    model, X = network
    monkeypatch.setattr("clausewise.compact.regression_search._MANY_CELLS", 0)  # as on large tables
    for options in ({}, {"linear": True, "loss": "huber", "synthetic": 0.1}):
        found = [RuleRegressor(model, max_rules=5, n_jobs=jobs, **options).fit(X).rules_ for jobs in (1, 3)]
        assert found[0] == found[1]


def test_the_size_is_chosen_on_held_out_rows(network):
    model, X = network
    chosen = RuleRegressor(model).fit(X)
    sizes = chosen.report_.sizes
    assert sizes.measure == "R²"
    assert len(chosen.rules_) <= 20
    assert chosen.rules_.reading_cost <= 60
    assert "R²" in str(chosen.report_)
    assert chosen.fidelity(X) > 0.9
    # Three steps need no more than three rules, however many would be readable.
    rng = np.random.default_rng(8)
    steps = rng.uniform(size=(500, 3))
    y = (steps > 0.5) @ [4.0, 2.0, 1.0]
    assert len(RuleRegressor().fit(steps, y).rules_) <= 5


def test_frontiers_measure_r2_by_reading_cost_and_by_rules(network):
    model, X = network
    by_cost = RuleRegressor(model).frontier(X, max_rules=10, max_conditions=20, n_splits=2)
    assert by_cost.by == "conditions"
    assert by_cost.budgets[-1] == 20
    assert (np.diff(by_cost.fidelity) > -0.05).all()
    assert by_cost.fidelity[-1] > by_cost.fidelity[0] + 0.2
    by_rules = RuleRegressor(model).frontier(X, by="rules", max_rules=4, n_splits=1)
    assert by_rules.budgets.tolist() == [1, 2, 3, 4]
    assert "R²" in repr(by_rules)
    assert by_rules.to_frame().columns.tolist()[-3:] == ["r2", "spread", "is_knee"]
    assert RuleRegressor(model, loss="huber").frontier(X, max_rules=2, n_splits=1).measure == "D²"
    pytest.importorskip("matplotlib")
    assert by_rules.plot().ax_.get_ylabel() == "R² to the network"


def test_rules_through_hidden_layers_have_origins(network):
    model, X = network
    through = RuleRegressor(model, max_rules=6).fit(X)
    layers = {rule.origin.layer for rule in through.rules_}
    assert layers & {"hidden 1", "hidden 2"}
    assert [layer.name for layer in through.report_.layers] == ["hidden 1", "hidden 2"]
    assert RuleRegressor(model, max_rules=6, seeds=False).fit(X).report_.layers == ()
    last = RuleRegressor(model, max_rules=6, layers="last 1", max_rows=300).fit(X)
    assert [layer.name for layer in last.report_.layers] == ["hidden 2"]
    assert last.report_.n_rows == 300
    with pytest.raises(ValueError, match="seeds=True needs a network"):
        RuleRegressor(seeds=True).fit(X, model.predict(X))


def test_generated_rows_help_on_few_rows(network):
    model, X = network
    few, many = X[:120], X[120:]
    with_rows, without = (
        RuleRegressor(model, max_rules=12, synthetic=synthetic, seeds=False).fit(few) for synthetic in (20, 0)
    )
    assert with_rows.fidelity(many) > without.fidelity(many)
    with pytest.raises(ValueError, match="no rows that a model could answer"):
        RuleRegressor(synthetic=2).fit(few, model.predict(few))


def test_every_way_to_give_numbers_gives_the_same_rules(network):
    model, X = network
    options = {"max_rules": 3, "synthetic": 0, "seeds": False}
    # As text, since the last digits of statistics depend on the precision in which a model computes.
    expected = str(RuleRegressor(model, **options).fit(X).rules_)
    arrays = ArrayNetwork(model.coefs_, model.intercepts_, output="number")
    for given in (
        model.predict,
        model.predict(X),
        clausewise.wrap(model),
        arrays,
        CallableNetwork(model.predict, output="number"),
    ):
        assert str(RuleRegressor(given, **options).fit(X).rules_) == expected
    assert str(RuleRegressor(**options).fit(X, model.predict(X)).rules_) == expected
    assert str(clausewise.extract(model, X, **options)) == expected
    assert str(clausewise.extract(model.predict(X), X, **options)) == expected
    assert str(clausewise.extract(model.predict, X, method="regression", **options)) == expected


def test_extract_chooses_rules_for_numbers_by_the_model(network):
    _, X = network
    for model in (RandomForestRegressor(5, random_state=0), LinearRegression()):
        assert isinstance(clausewise.extract(model.fit(X, X @ [1, 2, 3, 4]), X, max_rules=2), RegressionRules)
    untrained = clausewise.extract(LinearRegression(), X, y=X[:, 0], method="regression", max_rules=2)
    assert isinstance(untrained, RegressionRules)


def test_a_network_of_several_outputs_gives_a_rule_set_for_each(network):
    _, X = network
    both = LinearRegression().fit(X, X[:, :2] * [1, -1])
    for output, sign in ((0, 1), (1, -1)):
        rules = RuleRegressor(both, max_rules=1, output=output).fit(X).rules_
        fires = rules.fires(X).dense()[0]
        assert (X[fires, output].mean() > 0.5) == (rules[0].addition * sign > 0)
    with pytest.raises(ValueError, match=r"has 2 outputs.* output=0 to output=1"):
        RuleRegressor(both).fit(X)
    with pytest.raises(ValueError, match="output is 2, but the network has 2"):
        RuleRegressor(both, output=2).fit(X)


def test_models_of_classes_are_refused(network):
    _, X = network
    y = X[:, 0] > 0.5
    with pytest.warns(ConvergenceWarning):
        classifier = MLPClassifier((3,), max_iter=2, random_state=0).fit(X, y)
    for model in (classifier, clausewise.wrap(classifier), LogisticRegression().fit(X, y)):
        with pytest.raises(ValueError, match="predicts classes"):
            RuleRegressor(model).fit(X)
    with pytest.raises(TypeError, match=r"is a classifier.*predict_proba\(X\)\[:, 1\]"):
        clausewise.wrap(LogisticRegression().fit(X, y), output="number")
    with pytest.raises(ValueError, match=r"output='number' \(or RuleRegressor\)"):
        clausewise.extract(lambda rows: rows[:, 0], X)


def test_a_constant_target_needs_no_rules(network):
    _, X = network
    for loss in ("squared", "absolute", "poisson"):
        with pytest.warns(ExtractionWarning, match="The target is 7 on all rows"):
            model = RuleRegressor(loss=loss).fit(X, np.full(len(X), 7.0))
        assert len(model.rules_) == 0
        assert model.predict(X[:2]) == pytest.approx([7.0, 7.0])


def test_time_is_limited(network):
    model, X = network
    for max_rules in (20, "auto"):
        with pytest.warns(ExtractionWarning, match="stopped when max_seconds had passed"):
            found = RuleRegressor(model, max_rules=max_rules, max_seconds=1e-9, seeds=False).fit(X)
        assert len(found.rules_) < 3
    by_rules = RuleRegressor(model, max_seconds=1e-9).frontier(X, by="rules", max_rules=3, n_splits=1)
    assert by_rules.budgets.tolist() == [1, 2, 3]


def test_progress_is_shown(network, capsys):
    model, X = network
    RuleRegressor(model, max_rules=2, verbose=1).fit(X)
    shown = capsys.readouterr().err
    assert "hidden 1" in shown
    assert "RuleRegressor: 2 rules" in shown


def test_fitted_regressors_can_be_cloned_and_predict_as_their_rules(network):
    model, X = network
    fitted = RuleRegressor(clausewise.wrap(model), max_rules=3).fit(X)
    assert fitted.predict(X).tolist() == fitted.rules_.predict(X).tolist()
    assert str(fitted.explain(X[:1])[0]) == str(fitted.rules_.explain(X[:1])[0])
    assert clone(fitted).fit(X).rules_ == fitted.rules_
    with pytest.raises(ValueError, match="imitate no network"):
        RuleRegressor(max_rules=1).fit(X, X[:, 0]).fidelity(X)


def test_rules_can_be_compacted_from_given_ones(network):
    model, X = network
    given = RuleRegressor(model, max_rules=12).fit(X).rules_
    few = given.with_response("y").compact(X, model, max_rules=3)
    assert len(few) == 3
    assert few.response == "y"
    assert few.evaluate(X, network=model).to_network.r_squared > 0.6
    assert few == given.with_response("y").compact(X, clausewise.wrap(model), max_rules=3)
    sizes = given.frontier(X, model.predict(X), by="rules", max_rules=3, n_splits=1)
    assert sizes.fidelity[-1] > 0.6
    counts = RuleRegressor(max_rules=2, loss="poisson").fit(X, np.round(model.predict(X))).rules_
    assert counts.compact(X, np.round(model.predict(X)), max_rules=1).link == "log"
    with pytest.raises(ValueError, match="has no rows"):
        given.compact(X[:0], X[:0, 0])
