"""Premises with a weight per class, against plain NumPy and SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from clausewise.compact.model import Member
from clausewise.compact.shared_model import SharedModel

N_ROWS, N_CLASSES, PENALTY = 500, 4, 3.0


def member(fires):
    padded = np.zeros(-(-len(fires) // 64) * 64, dtype=bool)
    padded[: len(fires)] = fires
    return Member((), np.packbits(padded, bitorder="little").view(np.uint64), None, 2)


def loss(parameters, holds, codes, row_weight):
    """Return loss and penalty of weights (premises × classes, then the base)."""
    weights, base = parameters[:-N_CLASSES].reshape(-1, N_CLASSES), parameters[-N_CLASSES:]
    score = holds.T @ weights + base
    score = score - score.max(axis=1, keepdims=True)
    at_label = score[np.arange(len(codes)), codes]
    return row_weight @ (np.log(np.exp(score).sum(axis=1)) - at_label) + PENALTY / 2 * (weights**2).sum()


@pytest.fixture
def rows():
    """Return premises (premises × rows), classes that depend on them, and row weights."""
    rng = np.random.default_rng(0)
    holds = rng.random((5, N_ROWS)) < 0.3
    votes = holds.T @ rng.normal(scale=1.5, size=(5, N_CLASSES)) + rng.gumbel(size=(N_ROWS, N_CLASSES))
    return holds, votes.argmax(axis=1).astype(np.int32), rng.uniform(0.5, 2.0, N_ROWS)


@pytest.fixture
def model(rows):
    """Return a fitted model of the first three premises."""
    holds, codes, row_weight = rows
    found = SharedModel(codes, N_CLASSES, row_weight, PENALTY)
    for premise in holds[:3]:
        gains, weights = found.gains([member(premise)], found.residuals())
        found.add(member(premise), weights[0], float(gains[0]))
    found.settle(200)
    return found


def parameters_of(model):
    return np.concatenate([model.weights.ravel(), model.base])


def test_the_fit_is_the_best(rows, model):
    holds, codes, row_weight = rows
    best = minimize(loss, np.zeros(16), args=(holds[:3], codes, row_weight), tol=1e-9)
    assert model.objective == pytest.approx(loss(parameters_of(model), holds[:3], codes, row_weight))
    assert model.objective == pytest.approx(best.fun, rel=1e-4)
    assert model.weights == pytest.approx(best.x[:-N_CLASSES].reshape(3, -1), abs=0.02)


def test_the_promised_gain_is_that_of_a_newton_step(rows, model):
    holds, codes, row_weight = rows
    gains, weights = model.gains([member(holds[3]), member(holds[4])], model.residuals())
    for premise, gain, step in zip(holds[3:], gains, weights, strict=True):
        chosen = model.probabilities[premise]
        left = -chosen.copy()
        left[np.arange(len(left)), codes[premise]] += 1
        gradient = row_weight[premise] @ left
        second = np.diag(row_weight[premise] @ chosen) - (chosen.T * row_weight[premise]) @ chosen
        expected = np.linalg.solve(second + PENALTY * np.eye(N_CLASSES), gradient)
        assert step == pytest.approx(expected)
        assert gain == pytest.approx(gradient @ expected / 2)
        # Near the optimum, to second order, it is by how much the objective falls with these weights.
        longer = np.concatenate([model.weights.ravel(), step, model.base])
        fallen = model.objective - loss(longer, np.vstack([holds[:3], premise]), codes, row_weight)
        assert fallen == pytest.approx(gain, rel=0.2)


def test_curvature_is_the_second_derivative_along_a_direction(model):
    direction = np.array([0.6, -0.3, 0.0, 0.1])
    expected = model.row_weight * np.array(
        [direction @ (np.diag(p) - np.outer(p, p)) @ direction for p in model.probabilities]
    )
    assert model.curvature(direction) == pytest.approx(expected)


def test_weights_that_promise_too_much_are_reduced(rows, model):
    holds, *_ = rows
    before = model.objective
    (gain,), (weights,) = model.gains([member(holds[3])], model.residuals())
    model.add(member(holds[3]), 50 * weights, float(gain))
    assert model.objective < before
    assert 0 < np.abs(model.weights[-1]).max() < 50 * np.abs(weights).max()


def test_the_importance_of_a_premise_is_by_how_much_the_objective_rises_without_it(rows, model):
    holds, codes, row_weight = rows
    importance, before = model.importance(), model.objective
    for position in range(3):
        others = np.delete(np.arange(3), position)
        without = np.concatenate([model.weights[others].ravel(), model.base])
        rise = loss(without, holds[others], codes, row_weight) - before
        assert importance[position] == pytest.approx(rise)
    model.remove([1])
    assert model.objective == pytest.approx(before + importance[1])
    assert len(model.members) == len(model.weights) == 2


def test_with_many_classes_a_new_premise_speaks_about_those_that_it_changes_most():
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(100, dtype=np.int32), 30)
    holds = (codes < 20) & (rng.random(len(codes)) < 0.8)
    model = SharedModel(codes, 100, np.ones(len(codes)), PENALTY)
    _, (weights,) = model.gains([member(holds)], model.residuals())
    assert (weights != 0).sum() == 64
    assert (weights[:20] > 0).all()
