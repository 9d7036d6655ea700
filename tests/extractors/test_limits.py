"""What is exactly at a limit is within it."""

import pytest

from clausewise.extractors.limits import Limits


@pytest.mark.parametrize(
    ("n_rules", "n_bytes", "reason"),
    [
        (20, 4_000, None),
        (21, 4_000, "max_product_rules=20 was exceeded"),
        (20, 4_001, "max_memory=4,000 bytes was exceeded"),
    ],
)
def test_a_limit_is_exceeded_by_more_than_it_allows(n_rules, n_bytes, reason):
    limits = Limits(max_product_rules=20, max_seconds=None, max_memory=4_000, on_limit="raise")
    assert limits.exceeded(n_rules, n_bytes) == reason
