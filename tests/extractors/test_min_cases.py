"""The values of min_cases that are tried."""

from clausewise.extractors.min_cases import min_cases_path


def test_the_path_grows_with_the_rows():
    assert min_cases_path(100) == [2, 5]
    assert min_cases_path(20_000) == [10, 20, 40, 100, 200, 400, 1_000]
