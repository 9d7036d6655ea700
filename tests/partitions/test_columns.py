"""Columns that have other types in some partitions than in others."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from clausewise import partitioned
from clausewise.partitions.sample import draw

SIZES = ["S", "L", "M"]


def one_class(batch, _number):
    return np.zeros(len(batch), dtype=np.int32)


def facts_and_values(*parts):
    """Return what a sample shows about column `a`, and its values by the number of the row."""
    tables = [pd.DataFrame({"a": part, "row": np.arange(len(part)) + 10 * i}) for i, part in enumerate(parts)]
    drawn = draw(partitioned(tables), one_class, 1, 1_000)
    by_row = dict(zip(drawn.rows["row"].to_pylist(), drawn.rows["a"].to_pylist(), strict=True))
    return drawn.facts[0], [by_row[row] for row in sorted(by_row)]


def coded(values, categories, *, ordered=False):
    return pd.Categorical(values, categories=categories, ordered=ordered)


@pytest.mark.parametrize(
    ("parts", "kind", "values"),
    [
        (([True, False], [2, 3]), "number", [1.0, 0.0, 2.0, 3.0]),
        ((coded(["S", "M"], SIZES), coded([None, None], [])), "text", ["S", "M", None, None]),
        ((coded(["S"], ["S"]), ["M", None]), "text", ["S", "M", None]),
        (([np.nan, np.nan], ["M", None]), "text", [None, None, "M", None]),
        (([None], [2**60 + 1], [0.5, None]), "number", [None, 2.0**60, 0.5, None]),
        ((coded([None], [], ordered=True), coded(["M"], SIZES, ordered=True)), "text", [None, "M"]),
        ((coded([5], [5, 7]), coded([7], [7, 5])), "text", [5, 7]),
    ],
)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_types_of_one_kind_may_be_mixed(parts, kind, values, is_reversed):
    tables = [parts[::-1], parts][not is_reversed]
    facts, found = facts_and_values(*tables)
    assert facts.kind == kind
    assert sorted(found, key=str) == sorted(values, key=str)


def test_categories_are_sorted_unless_their_type_is_ordered():
    one, other = coded(["S"], SIZES), coded(["L"], SIZES[::-1])
    for parts in ((one, one), (one, other), (other, one)):
        facts, _ = facts_and_values(*parts)
        assert facts.categories == ("L", "M", "S")
    ordered = coded(["M"], SIZES, ordered=True)
    for parts in ((ordered, ordered), (ordered, ["XL", "S"]), (["XL", "S"], ordered)):
        facts, _ = facts_and_values(*parts)
        assert facts.categories[:3] == tuple(SIZES)


def test_tables_of_arrow_may_have_dictionaries():
    ordered = pa.DictionaryArray.from_arrays([0, 1], ["S", "L"], ordered=True)
    table = pa.table({"a": ordered, "b": pa.array(["y", "x"]).dictionary_encode()})
    facts = draw(partitioned([table, table]), one_class, 1, 1_000).facts
    assert [fact.categories for fact in facts] == [("S", "L"), ("x", "y")]


def test_the_rows_of_a_sample_have_categories_in_the_order_of_all_rows():
    tables = [pd.DataFrame({"a": coded(["S"], SIZES)}), pd.DataFrame({"a": coded(["L"], SIZES[::-1])})]
    rows = draw(partitioned(tables), one_class, 1, 1_000).rows
    assert rows["a"].combine_chunks().dictionary.to_pylist() == ["L", "M", "S"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((["x", None], [1, 2]), "'a' holds numbers in some partitions and text in others; make it one"),
        (([0.5], ["x"]), "'a' holds numbers in some partitions and text in others; make it one"),
        (([True], ["x"]), "'a' holds booleans in some partitions and text in others; make it one"),
        (
            (coded(["S"], SIZES, ordered=True), coded(["S"], SIZES[::-1], ordered=True)),
            "'a' has the ordered categories S, L, M in some partitions and M, L, S in others",
        ),
    ],
)
def test_kinds_that_cannot_be_mixed_are_named(parts, message):
    with pytest.raises(ValueError, match=message):
        facts_and_values(*parts)
