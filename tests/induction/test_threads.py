"""Threads within one fit, which only large tables use, and within predictions."""

import numpy as np
import pytest

from clausewise import C50Classifier


@pytest.mark.parametrize("is_binned", [True, False])
def test_a_large_tree_does_not_depend_on_threads(is_binned):
    # 2^20 cells. Missing values keep a column from being counted in bins.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2**16, 17)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=len(X)) > 1).astype(int)
    if not is_binned:
        X[0] = np.nan
    one, four = (C50Classifier(rules=False, min_cases=1_000, n_jobs=n).fit(X, y) for n in (1, 4))
    assert one.tree_.n_leaves > 4
    assert one.tree_.to_dict() == four.tree_.to_dict()
    np.testing.assert_array_equal(one.predict_proba(X), four.predict_proba(X))
