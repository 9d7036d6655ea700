"""Minimisation of smooth functions, with and without bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from clausewise.compact.minimisation import dot, minimised


def logistic(seed, n_rows=200, n_weights=12):
    """A penalised logistic loss, whose unbounded minimum has weights of both signs."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, n_weights))
    y = (X @ draw.normal(size=n_weights) + draw.logistic(size=n_rows) > 0).astype(float)

    def objective(weights):
        margin = X @ weights
        loss = np.logaddexp(0, margin) - y * margin
        return float(loss.sum() + weights @ weights / 2), X.T @ (1 / (1 + np.exp(-margin)) - y) + weights

    return objective


@pytest.mark.parametrize("is_bounded", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_minima_are_those_of_scipy(seed, is_bounded):
    objective = logistic(seed)
    found = minimised(objective, np.zeros(12), 200, 1e-12, np.full(12, is_bounded))
    bounds = [(0 if is_bounded else None, None)] * 12
    expected = minimize(objective, np.zeros(12), jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12).x
    assert found == pytest.approx(expected, abs=1e-3)
    assert not is_bounded or (found >= 0).all()


def test_only_some_weights_may_be_bounded():
    def objective(weights):
        return float(((weights + 1) ** 2).sum()), 2 * (weights + 1)

    found = minimised(objective, np.ones(2), 50, 1e-12, np.array([True, False]))
    assert found == pytest.approx([0, -1], abs=1e-6)


def test_the_number_of_steps_is_limited():
    calls = []

    def objective(weights):
        calls.append(weights)
        return float((weights**4).sum()), 4 * weights**3

    far = minimised(objective, np.full(3, 10.0), 1, 0.0)
    n_calls = len(calls)
    near = minimised(objective, np.full(3, 10.0), 40, 0.0)
    assert np.abs(near).max() < np.abs(far).max() < 10
    assert n_calls < 30


def test_a_start_that_cannot_be_improved_is_returned():
    start = np.array([1.0, -2.0])
    assert minimised(lambda w: (0.0, np.zeros(2)), start, 10, 1e-9).tolist() == [1.0, -2.0]
    # A gradient that promises what the value does not keep.
    assert minimised(lambda w: (float(np.abs(w - start).sum()), np.ones(2)), start, 10, 1e-9).tolist() == [
        1.0,
        -2.0,
    ]


def test_products_of_long_vectors_add_up_in_a_fixed_order():
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(2, 100_000))
    assert dot(a, b) == pytest.approx(float((a * b).sum()))
