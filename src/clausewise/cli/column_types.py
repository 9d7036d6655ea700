"""Columns of a table with the types that rules, networks and labels need.

A CSV file contains text only. Where rules are given, they define the types of their columns, so that `1` is
text in a column of text and `0` is false in a binary one; types of other columns are inferred.
"""

import contextlib
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute

from clausewise.base.counts import count_of
from clausewise.cli.table_files import FALSE_WORDS, MISSING, TRUE_WORDS, DataError, Source, listed
from clausewise.data.features import Features
from clausewise.data.table import Category, Kind


def columns_for_rules(
    table: pa.Table, features: Features, source: Source, needed: Collection[int] | None = None
) -> pa.Table:
    """Return the columns of rules, in their order and with their types, without any others.

    If the features have names, those that are not `needed` may be left out.
    """
    names = table.column_names
    positions = list(range(len(features)))
    if needed is not None and features.named:
        positions = [i for i in positions if features.names[i] in names or i in needed]
    wanted = [features.names[i] for i in positions]
    if features.named or set(wanted) <= set(names):
        missing = [name for name in wanted if name not in names]
        if missing:
            raise DataError(
                f"{source.shown} has no column {listed(missing)}, which the rules need; its columns are "
                f"{listed(names)}."
            )
        chosen = table.select(wanted)
    elif len(names) == len(features):
        chosen = table.rename_columns(wanted)
    else:
        raise DataError(
            f"{source.shown} has {count_of(len(names), 'column')}, the rules were learnt from "
            f"{len(features)} without names; pass only these columns, or name them as the rules do."
        )
    typed = [
        _typed(chosen.column(name), name, features.kinds[i], features.categories[i], source)
        for i, name in zip(positions, wanted, strict=True)
    ]
    return pa.table(typed, names=wanted)


def infer_types(table: pa.Table, source: Source) -> pa.Table:
    """Convert columns of a CSV file to numbers or booleans where all values are."""
    if source.format != "csv":
        return table
    return pa.table([_infer_type(column) for column in table.columns], names=table.column_names)


def target_column(table: pa.Table, name: str, source: Source) -> list[Any]:
    """Return the labels in a column; missing ones are None."""
    require_column(table, name, source)
    values = table.column(name)
    if source.format == "csv" and pa.types.is_string(values.type):
        values = _null_words(values, MISSING)
    labels: list[Any] = values.to_pylist()
    return labels


def require_column(table: pa.Table, name: str, source: Source) -> None:
    """Raise an error that lists the columns unless the table has this one."""
    if name not in table.column_names:
        raise DataError(
            f"{source.shown} has no column {name!r}; its columns are {listed(table.column_names)}."
        )


def _typed(
    values: pa.ChunkedArray,
    name: str,
    kind: Kind,
    categories: tuple[Category, ...] | None,
    source: Source,
) -> pa.ChunkedArray:
    """Convert a column to the type of a feature; only values of CSV files need more than a cast."""
    if pa.types.is_decimal(values.type):
        return values.cast(pa.float64())
    if source.format != "csv":
        return values
    if categories is not None and all(isinstance(value, str) for value in categories):
        # A word such as NA means missing, unless it is a category.
        return _null_words(values, [word for word in MISSING if word not in categories])
    known = _null_words(pa.compute.utf8_trim_whitespace(values), MISSING)
    is_boolean = kind == "binary" or (categories and all(isinstance(value, bool) for value in categories))
    try:
        return _booleans(known) if is_boolean else known.cast(pa.float64())
    except pa.ArrowInvalid as error:
        expected = "0, 1, true or false" if is_boolean else "numbers"
        raise DataError(f"Column {name!r} of {source.shown} must contain {expected}: {error}") from error


def _infer_type(values: pa.ChunkedArray) -> pa.ChunkedArray:
    known = _null_words(values, MISSING)
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        with contextlib.suppress(pa.ArrowInvalid):
            return _booleans(known) if kind == pa.bool_() else known.cast(kind)
    return known


def _null_words(values: pa.ChunkedArray, words: Sequence[str]) -> pa.ChunkedArray:
    is_missing = pa.compute.is_in(values, value_set=pa.array(list(words), pa.string()))
    return pa.compute.if_else(is_missing, pa.scalar(None, pa.string()), values)


def _booleans(values: pa.ChunkedArray) -> pa.ChunkedArray:
    is_true, is_false = (
        pa.compute.is_in(values, value_set=pa.array(words)) for words in (TRUE_WORDS, FALSE_WORDS)
    )
    is_neither = pa.compute.and_(
        pa.compute.is_valid(values), pa.compute.invert(pa.compute.or_(is_true, is_false))
    )
    if pa.compute.any(is_neither).as_py():
        first = values.filter(is_neither)[0].as_py()
        raise pa.ArrowInvalid(f"{first!r} is neither")
    return pa.compute.if_else(pa.compute.is_valid(values), is_true, pa.scalar(None, pa.bool_()))
