"""Arrow tables with the same columns, whose types may differ: merged types, and casts to them.

Whether a column has missing values, is coded by a dictionary, or holds whole numbers only, may differ from
file to file and from batch to batch, and must not matter.
"""

from collections.abc import Sequence

import pyarrow as pa


def merged_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return a type that holds the values of both; None if there is none, as for text and numbers."""
    if one == other or is_empty_type(other):
        return one
    if is_empty_type(one):
        return other
    if pa.types.is_dictionary(one) and pa.types.is_dictionary(other) and one.ordered == other.ordered:
        values = merged_type(one.value_type, other.value_type)
        return None if values is None else pa.dictionary(pa.int32(), values, one.ordered)
    one, other = _of_values(one), _of_values(other)
    if one == other:
        return one
    if _is_text(one) and _is_text(other):
        return pa.string()
    if _is_number(one) and _is_number(other):
        are_whole = pa.types.is_integer(one) and pa.types.is_integer(other)
        return pa.int64() if are_whole and pa.uint64() not in (one, other) else pa.float64()
    try:
        both = [pa.schema([("column", found)]) for found in (one, other)]
        return pa.unify_schemas(both, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None


def described(found: pa.DataType) -> str:
    """Return what a type holds, for messages."""
    values = _of_values(found)
    return "text" if _is_text(values) else "numbers" if _is_number(values) else str(values)


def conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns and types of a schema, made by `merged_type`."""
    columns = [_cast(table.column(field.name), field.type) for field in schema]
    return pa.table(columns, schema=schema.remove_metadata())


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables with the same columns as one; a column without values in one of them has any type."""
    fields = []
    for position, name in enumerate(tables[0].column_names):
        columns = [table.column(position) for table in tables]
        types = [column.type for column in columns if column.null_count < len(column)]
        merged = types[0] if types else columns[0].type
        for found in types[1:]:
            both = merged_type(merged, found)
            if both is None:
                raise ValueError(
                    f"Column '{name}' holds {described(merged)} in some partitions and {described(found)} in "
                    "others; make it one or the other."
                )
            merged = both
        fields.append(pa.field(name, merged))
    return pa.concat_tables([conformed(table, pa.schema(fields)) for table in tables])


def is_empty_type(found: pa.DataType) -> bool:
    """Return whether a column of this type can have no values."""
    return bool(pa.types.is_null(_of_values(found)))


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if column.type == wanted:
        return column
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), wanted)])
    if pa.types.is_dictionary(wanted):
        return pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    chunk.indices.cast(wanted.index_type),
                    chunk.dictionary.cast(wanted.value_type),
                    ordered=wanted.ordered,
                )
                for chunk in column.chunks
            ],
            wanted,
        )
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    # Numbers above 2^53 lose digits, as they do wherever a column has missing values.
    return column.cast(wanted, safe=not pa.types.is_floating(wanted))


def _of_values(found: pa.DataType) -> pa.DataType:
    return found.value_type if pa.types.is_dictionary(found) else found


def _is_text(found: pa.DataType) -> bool:
    is_view = getattr(pa.types, "is_string_view", None)
    return bool(
        pa.types.is_string(found)
        or pa.types.is_large_string(found)
        or (is_view is not None and is_view(found))
    )


def _is_number(found: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(found)
        or pa.types.is_floating(found)
        or pa.types.is_decimal(found)
        or pa.types.is_boolean(found)
    )
