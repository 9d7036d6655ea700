"""The warning about classes that no rule predicts."""

import warnings

import numpy as np
import pytest

from clausewise import ExtractionWarning, Pedagogical

ROWS = np.arange(100.0)[:, None]


def labels(**n_rows):
    """Return labels of rows: at the end a few of each class given, before them "a"."""
    rare = [label for label, count in n_rows.items() for _ in range(count)]
    return np.array(["a"] * (50 - len(rare)) + ["z"] * 50 + rare)[:100]


@pytest.mark.parametrize(
    ("n_rows", "message"),
    [
        ({"b": 2}, r"No rule predicts class b \(2 rows\)"),
        ({"b": 2, "c": 1}, r"No rule predicts classes b, c \(3 rows\)"),
        ({"b": 1, "c": 1, "d": 1}, r"No rule predicts classes b, c, d \(3 rows\)"),
    ],
)
def test_classes_without_rules_are_named(n_rows, message):
    with pytest.warns(ExtractionWarning, match=message):
        Pedagogical(labels(**n_rows), min_cases=20, max_rules=None).fit(ROWS)


def test_nothing_is_said_where_every_class_has_a_rule():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rules = Pedagogical(labels(b=20), min_cases=10, max_rules=None).fit(ROWS).rules_
    assert {rule.conclusion for rule in rules} == {"a", "b", "z"}
