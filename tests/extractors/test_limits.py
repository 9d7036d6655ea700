"""What is exactly at a limit is within it, and what is left out is counted."""

from types import SimpleNamespace

import numpy as np
import pytest

from clausewise import Features
from clausewise.base.progress import Progress
from clausewise.extractors.boxes import Space, everything
from clausewise.extractors.limits import Limits
from clausewise.extractors.products import BoxCollector, Product


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


class Recorder(Product):
    """A product of one box per clause, which records how many boxes it tidies at a time."""

    def __init__(self, limits, class_of=(0,)):
        self.limits, self.class_of = limits, np.array(class_of)
        self.progress, self.name, self._finished = Progress(0), "inputs", []
        self.units = SimpleNamespace(features=SPACE.features)
        self.n_tidied = []

    def of_factors(self, factors, space, label):
        return everything(space)

    def tidied(self, boxes):
        self.n_tidied.append(len(boxes))
        return boxes.take(np.arange(1))

    def within_limits(self, boxes, label, next_size):
        return boxes


SPACE = Space(Features(("x", "y")), np.array([0, 1], dtype=np.int32), np.array([-1, -1], dtype=np.int32))


@pytest.mark.parametrize(("max_memory", "n_kept"), [(None, 10_000), (10 * 64 * len(SPACE), 10), (1, 1)])
def test_boxes_are_tidied_when_there_are_more_than_memory_allows(max_memory, n_kept):
    limits = Limits(max_product_rules=None, max_seconds=None, max_memory=max_memory, on_limit="raise")
    product = Recorder(limits)
    collector = BoxCollector(product, SPACE, 0)
    collector.add(everything(SPACE).take(np.zeros(n_kept, dtype=np.intp)), 1)
    assert product.n_tidied == []
    collector.add(everything(SPACE), 1)
    assert product.n_tidied == [n_kept + 1]


def test_each_clause_that_is_left_out_when_time_is_up_is_counted_once():
    limits = Limits(max_product_rules=None, max_seconds=0, max_memory=None, on_limit="truncate", started=-1)
    product = Recorder(limits, class_of=[0, 1, 0, 0, 0, 1])
    product.of_clauses([(0,)] * 6, [everything(SPACE)], np.arange(6))
    assert limits.n_truncated == 4  # the first clause of each class is kept
