"""Errors of a model about the rows of a file, with the names of the file and of the columns."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute

from clausewise.cli.table_files import DataError, Source, is_number, listed
from clausewise.networks import Network

# As NumPy, and with it scikit-learn, says it.
_TEXT: Final = re.compile(r"could not convert string to float: (?:np\.str_\()?(['\"])(.*?)\1")


@contextlib.contextmanager
def model_errors_named(
    network: Network, names: Sequence[str], source: Source, table: pa.Table | None = None
) -> Iterator[None]:
    """Turn errors about missing columns, and about text among numbers, into a DataError with their names.

    `names` are the columns that the model is given, and `table` their values if these are in memory.
    """
    try:
        yield
    except DataError:
        raise
    except (ValueError, TypeError, LookupError) as error:
        problem = _text_among_numbers(str(error), table, source) or _missing(
            str(error), network, names, source
        )
        if problem is None:
            raise
        raise DataError(problem) from error


def require_numbers_as_in(known: pa.Table, table: pa.Table, source: Source) -> None:
    """Raise an error if a column with numbers in one table holds text in another."""
    for name in table.column_names:
        if name in known.column_names and _is_text(table, name) and _holds_numbers(known.column(name).type):
            words = _words(table.column(name))
            shown = f" contains {words[0]!r}, but" if words else ""
            raise DataError(f"Column {name!r} of {source.shown}{shown} must contain numbers.")


def _text_among_numbers(message: str, table: pa.Table | None, source: Source) -> str | None:
    found = _TEXT.search(message)
    if found is None or table is None:
        return None
    text = found[2]
    with_it = [name for name in table.column_names if _is_text(table, name) and _has(table, name, text)]
    if not with_it:
        return None
    # A column with numbers as well is more likely the one than a column of words.
    mixed = [name for name in with_it if len(_words(table.column(name))) < len(table)]
    columns = " or ".join(map(repr, mixed or with_it))
    return f"Column {columns} of {source.shown} contains {text!r}, but the model reads numbers there."


def _missing(message: str, network: Network, names: Sequence[str], source: Source) -> str | None:
    missing = [name for name in network.feature_names or () if name not in names]
    stated = [name for name in missing if repr(name) in message]
    if not missing or not (stated or re.search(r"\bcolumns?\b|\bfeature names\b", message, re.IGNORECASE)):
        return None
    return (
        f"The model reads column {listed(stated or missing)}; the columns that it gets from {source.shown} "
        f"are {listed(names)}."
    )


def _has(table: pa.Table, name: str, text: str) -> bool:
    return bool(pa.compute.any(pa.compute.equal(table.column(name), text)).as_py())


def _is_text(table: pa.Table, name: str) -> bool:
    kind = table.schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _holds_numbers(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _words(column: pa.ChunkedArray) -> list[str]:
    """Return the values of a column of text that are not numbers."""
    return [value for value in column.to_pylist() if value is not None and not is_number(value)]
