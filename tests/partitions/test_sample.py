"""Samples of rows in partitions, and the weights of their rows."""

import numpy as np
import pandas as pd
import pytest

from clausewise import partitioned
from clausewise.partitions import sample
from clausewise.partitions.sample import draw


def is_rare(batch, _number):
    return (batch["a"].to_numpy() < 0).astype(np.int32)


def test_weights_of_a_rare_class_with_a_frequent_content_sum_up_to_its_rows(monkeypatch):
    """A class of 500 contents, one of which 301 rows have, among 40,000 rows."""
    monkeypatch.setattr(sample, "MIN_OF_CLASS", 100)
    numbers = np.concatenate([-np.arange(1.0, 501.0), np.full(300, -1.0), np.arange(40_000.0)])
    for seed in range(12):  # in some, the frequent content is one of the first 100
        rows = pd.DataFrame({"a": numbers, "seed": np.full(len(numbers), seed)})
        drawn = draw(partitioned([rows[:700], rows[700:]]), is_rare, 2, 400)
        chosen, weights = drawn.between(0.0, 400 / len(rows))
        of_class = drawn.codes[chosen] == 1
        assert of_class.sum() >= 100
        assert weights[of_class].sum() / 400 * len(rows) == pytest.approx(800, rel=0.25)
