"""The values of min_cases that are tried."""

from sklearn.datasets import make_classification

from clausewise import ECLAIRE
from clausewise.extractors import min_cases
from clausewise.extractors.min_cases import min_cases_path


def test_the_path_grows_with_the_rows():
    assert min_cases_path(100) == [2, 5]
    assert min_cases_path(20_000) == [10, 20, 40, 100, 200, 400, 1_000]


def test_values_that_mean_the_same_on_fewer_rows_are_tried_once(monkeypatch):
    # Of 1,500 rows 2 and 3 are tried; 2 is both of them on four fifths of the rows.
    X, y = make_classification(1_500, 4, random_state=0)
    n_tried = []

    def counted(data, options, log, progress):
        n_tried.append(len(options))
        return extracted_with_each(data, options, log, progress)

    extracted_with_each = min_cases._extracted_with_each
    monkeypatch.setattr(min_cases, "_extracted_with_each", counted)
    model = ECLAIRE(max_rules=None, random_state=0).fit(X, y)
    path = model.report_.path
    assert [point.min_cases for point in path] == min_cases_path(1_500)
    assert [point.min_cases for point in path[:2]] == [2, 3]
    assert (path[0].fidelity, path[0].n_rules) == (path[1].fidelity, path[1].n_rules)
    assert n_tried == [len(path) - 1] * 5
