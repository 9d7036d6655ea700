"""Counts in sentences."""

import pytest

from clausewise.base.counts import count_of


@pytest.mark.parametrize(("n", "text"), [(0, "0 rows"), (1, "1 row"), (1204, "1,204 rows")])
def test_a_noun_is_in_the_plural_unless_there_is_one(n, text):
    assert count_of(n, "row") == text
