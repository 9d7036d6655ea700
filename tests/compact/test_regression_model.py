"""Losses and fits of rules that add numbers, against plain NumPy."""

import numpy as np
import pytest

from clausewise import _core
from clausewise.compact.losses import LOSSES, loss_named
from clausewise.compact.model import Member, stacked
from clausewise.compact.regression_model import RegressionModel
from tests.reference import sums as reference

N_ROWS, PENALTY = 700, 3.0


def member(fires):
    padded = np.zeros(-(-len(fires) // 64) * 64, dtype=bool)
    padded[: len(fires)] = fires
    return Member((), np.packbits(padded, bitorder="little").view(np.uint64), None, 2)


@pytest.fixture
def case():
    """Return which of four rules fire, two columns, targets that depend on all of them, and weights."""
    rng = np.random.default_rng(0)
    fires = rng.random((4, N_ROWS)) < 0.4
    columns = rng.normal(size=(2, N_ROWS))
    score = np.array([1.0, -0.8, 0.5, 0.3]) @ fires + 0.4 * columns[0] - 0.2
    return fires, columns, score, rng.uniform(0.5, 2.0, N_ROWS), rng


def targets(name, score, rng):
    noise = rng.standard_t(2, N_ROWS) / 4
    return rng.poisson(np.exp(score)).astype(float) if name == "poisson" else score + noise


def fitted(name, case, columns=True, weight=None):
    fires, of_columns, score, weights, rng = case
    target = targets(name, score, rng)
    weights = weights if weight is None else weight
    model = RegressionModel(target, weights, PENALTY, loss_named(name), of_columns if columns else None)
    model.replace(0, model.fitted(0, [member(one) for one in fires], np.zeros(5)))
    return model, target, weights


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_their_slopes_are_those_of_the_formulas(name):
    rng = np.random.default_rng(1)
    target, score = rng.poisson(2.0, 200).astype(float), rng.normal(size=200)
    loss = loss_named(name)
    difference = loss.value(target, score) - reference.loss(name, target, score)
    assert difference == pytest.approx(np.full(200, difference[0]))
    gradient, curvature = loss.derivatives(target, score)
    assert gradient == pytest.approx(reference.slope(name, target, score), abs=1e-4)
    assert (curvature > 0).all()


@pytest.mark.parametrize("name", ["squared", "huber", "absolute"])
def test_the_parabola_of_the_curvature_lies_above_the_loss(name):
    loss, moved = loss_named(name), np.linspace(-4, 4, 161)
    target = np.zeros(len(moved))
    for at in (-2.0, -0.3, 0.001, 0.7):
        score = np.full(len(moved), at)
        gradient, curvature = loss.derivatives(target, score)
        above = loss.value(target, score) - gradient * (moved - at) + curvature * (moved - at) ** 2 / 2
        assert (above >= loss.value(target, moved) - 1e-9).all()


def test_the_squared_loss_is_fitted_by_ridge_regression(case):
    model, target, weights = fitted("squared", case)
    matrix = reference.inputs(case[0], case[1])
    penalties = np.array([PENALTY] * 4 + [0.01 * PENALTY] * 2 + [0.0])
    numbers = reference.ridge(target, weights, matrix, penalties)
    fit = model.fit
    assert np.append(fit.weights[:4], fit.coefficients) == pytest.approx(numbers[:-1])
    assert fit.weights[-1] == pytest.approx(numbers[-1])
    assert fit.score == pytest.approx(matrix @ numbers)
    expected = reference.objective("squared", target, weights, matrix, numbers, penalties)
    assert fit.objective == pytest.approx(expected)


@pytest.mark.parametrize("name", LOSSES)
def test_no_small_change_of_fitted_numbers_lowers_the_objective(name, case):
    model, target, weights = fitted(name, case)
    matrix = reference.inputs(case[0], case[1])
    penalties = np.array([PENALTY] * 4 + [0.01 * PENALTY] * 2 + [0.0])
    fit = model.fit
    numbers = np.concatenate([fit.weights[:-1], fit.coefficients, fit.weights[-1:]])
    least = reference.objective(name, target, weights, matrix, numbers, penalties)
    rng = np.random.default_rng(2)
    for _ in range(50):
        changed = numbers + 0.05 * rng.normal(size=len(numbers))
        changed_to = reference.objective(name, target, weights, matrix, changed, penalties)
        assert changed_to > least - 0.05


@pytest.mark.parametrize("columns", [False, True])
def test_importance_and_promised_gain_are_exact_for_the_squared_loss(case, columns):
    fires, of_columns, score, weights, rng = case
    target = targets("squared", score, rng)
    model = RegressionModel(target, weights, PENALTY, loss_named("squared"), of_columns if columns else None)
    rules = [member(one) for one in fires]
    model.replace(0, model.fitted(0, rules[:2], np.zeros(3)))
    block = model.blocks[0]
    gains, _ = model.promised(0, rules[2:], *model.derivatives(0))
    for rule, gain in zip(rules[2:], gains, strict=True):
        with_rule = model.fitted(0, (*block.members, rule), np.zeros(4))
        assert gain == pytest.approx(block.fit.objective - with_rule.fit.objective)
    for place, importance in enumerate(block.importance):
        without = model.fitted(0, *block.without(place))
        assert importance == pytest.approx(without.fit.objective - block.fit.objective)


def test_without_the_penalty_nothing_is_left_for_copies_of_rules_to_explain(case):
    model, _, _ = fitted("squared", case)
    gradient, _ = model.derivatives(0)
    left, _ = model.unexplained(0)
    fires = case[0].astype(float)
    assert (np.abs(fires @ left) < 0.1 * np.abs(fires @ gradient) + 1e-9).all()


@pytest.mark.parametrize("name", LOSSES)
def test_a_weight_of_two_is_the_same_as_two_rows(name, case):
    fires, columns, score, _, rng = case
    target = targets(name, score, rng)
    count = rng.integers(1, 4, N_ROWS)
    weighted, repeated = (
        RegressionModel(t, w, PENALTY, loss_named(name), c)
        for t, w, c in (
            (target, count.astype(float), columns),
            (np.repeat(target, count), np.ones(count.sum()), np.repeat(columns, count, axis=1)),
        )
    )
    rules = [member(one) for one in fires]
    again = [member(np.repeat(one, count)) for one in fires]
    first, second = weighted.fitted(0, rules, np.zeros(5)), repeated.fitted(0, again, np.zeros(5))
    assert first.fit.weights == pytest.approx(second.fit.weights, rel=1e-6)
    assert first.fit.objective == pytest.approx(second.fit.objective)


def test_sums_of_weights_over_the_rules_that_fire(case):
    rules = stacked([member(one) for one in case[0]], N_ROWS)
    weight = np.array([1.0, -2.0, 0.5, 4.0])
    assert _core.weighted_sums(rules, weight, N_ROWS) == pytest.approx(weight @ case[0])
    with pytest.raises(ValueError, match="one entry per rule"):
        _core.weighted_sums(rules, weight[:3], N_ROWS)
