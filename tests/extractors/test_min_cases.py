"""The values of min_cases that are tried."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE
from clausewise.extractors import min_cases
from clausewise.extractors.min_cases import min_cases_path


def test_the_path_grows_with_the_rows():
    assert min_cases_path(100) == [2, 5]
    assert min_cases_path(20_000) == [10, 20, 40, 100, 200, 400, 1_000]


@pytest.fixture
def tried(monkeypatch):
    """Return a list that every split adds the values to that were tried on it."""
    found = []

    def noted(data, options, log, progress):
        found.append([one.clause_inducer.min_cases for one in options])
        return extracted_with_each(data, options, log, progress)

    extracted_with_each = min_cases._extracted_with_each
    monkeypatch.setattr(min_cases, "_extracted_with_each", noted)
    return found


def test_values_that_mean_the_same_on_fewer_rows_are_tried_once(tried):
    # Of 1,500 rows 2 and 3 are tried; 2 is both of them on half of the rows.
    X, y = make_classification(1_500, 4, random_state=0)
    path = ECLAIRE(max_rules=None, random_state=0).fit(X, y).report_.path
    assert [point.min_cases for point in path] == min_cases_path(1_500)
    assert [point.min_cases for point in path[:2]] == [2, 3]
    assert (path[0].fidelity, path[0].n_rules) == (path[1].fidelity, path[1].n_rules)
    assert len(tried[0]) == len(path) - 1


def test_values_that_are_clearly_worse_are_not_tried_again(tried):
    X = np.random.RandomState(0).uniform(size=(1_000, 6))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    network = MLPClassifier((16, 8), solver="lbfgs", max_iter=2_000, random_state=0).fit(X, y)
    report = ECLAIRE(network, max_rules=None, voting="confidence", random_state=0).fit(X).report_
    first, *later = tried  # one value may be clearly the best at once
    assert len(later) <= 1
    assert all(set(values) < set(first) for values in later)
    fidelity = {point.min_cases: point.fidelity for point in report.path}
    assert list(fidelity) == min_cases_path(1_000)
    assert fidelity[report.min_cases] > min(fidelity.values())
