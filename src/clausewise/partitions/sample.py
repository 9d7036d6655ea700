"""A sample of rows that does not depend on how they are partitioned or ordered.

Every row has a hash of its contents. The sample of a fraction p of the rows consists of all rows with a hash
below p. Equal rows share a hash, so they are drawn together, as one row with their number as its weight. Two
kinds of rows are drawn more often, with a weight that is smaller in proportion:

- those of rare classes, so that each class has some rows;
- contents that are frequent, of which one alone would make up a large part of the sample, or be missed.
  Candidates are found by the summary of Misra and Gries, which holds every content with more than 1 / (c + 1)
  of all rows in c counters, whatever the order; they are then counted exactly, in a pass of their own.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

try:
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.ipc
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"Learning from rows in partitions needs pyarrow ({error}); pip install pyarrow."
    ) from error

from clausewise.base.progress import Progress
from clausewise.data.table import as_table
from clausewise.partitions.columns import ColumnFacts, column_facts, from_array, to_array
from clausewise.partitions.contents import Hashes, content_hashes
from clausewise.partitions.protocol import Part, PartitionedRows
from clausewise.partitions.schemas import concatenated

Answer = Callable[[Any, int | None], NDArray[np.int32]]
"""Returns the class of each row of a batch, as a code."""

_MAX_HASH: Final = 2.0**64
MIN_OF_CLASS: Final = 1_000
"""Each class has so many rows in a sample, or all that it has."""
N_COUNTERS: Final = 4_096
"""The number of counters of frequent contents; twice their share of the rows is frequent."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows in the order of their hashes, without repetitions; made by `draw`.

    Attributes
    ----------
    rows : pyarrow.Table
        The raw rows.
    place : ndarray of float
        The hash of each row, as a number from 0 to 1.
    codes : ndarray of int
        The class of each row.
    n_copies : ndarray of int
        The number of rows with this content.
    n_of_class : ndarray of int
        The number of rows of each class, of all rows.
    facts : list of ColumnFacts
        What all rows show about their columns.
    """

    rows: pa.Table
    place: NDArray[np.float64]
    codes: NDArray[np.int32]
    n_copies: NDArray[np.int64]
    is_frequent: NDArray[np.bool_]
    n_of_class: NDArray[np.int64]
    facts: Sequence[ColumnFacts]

    @property
    def n_rows(self) -> int:
        """Number of all rows, drawn or not."""
        return int(self.n_of_class.sum())

    @cached_property
    def _reached(self) -> NDArray[np.float64]:
        """The place up to which all rows of a rare class are drawn, for every class."""
        reached = np.zeros(len(self.n_of_class))
        for code in np.unique(self.codes).tolist():
            # Frequent contents are counted, too, as they are where rows of rare classes are kept.
            places = self.place[self.codes == code]
            is_complete = len(places) < MIN_OF_CLASS
            reached[code] = 1.0 if is_complete else np.nextafter(places[MIN_OF_CLASS - 1], 1.0)
        return reached

    def between(self, first: float, last: float) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
        """Return the rows with places from `first` to `last`, as a sample, and their weights.

        Frequent contents are in every sample. One that begins at 0 also has more rows of rare classes. The
        weights are None if they all are 1.
        """
        share = last - first
        is_drawn = (self.place >= first) & (self.place < last) & ~self.is_frequent
        chance = np.full(len(self.place), share)
        if first == 0.0:
            is_rare = (self.place < self._reached[self.codes]) & ~self.is_frequent
            chance = np.maximum(np.where(is_rare, self._reached[self.codes], share), share)
            is_drawn |= is_rare
        is_drawn |= self.is_frequent
        weights = self.n_copies * (share / np.where(self.is_frequent, 1.0, chance))
        drawn = np.flatnonzero(is_drawn)
        chosen = weights[drawn]
        return drawn, None if (chosen == 1.0).all() else chosen


@dataclass(frozen=True)
class _Counter:
    """Counts a batch for the sample; sent to where the rows are."""

    answer: Answer
    names: tuple[str, ...]
    coded: frozenset[str]
    share: float
    n_classes: int
    content_has_class: bool

    def __call__(self, batch: Any, number: int | None) -> Part:
        codes = self.answer(batch, number)
        hashes = content_hashes(batch, [codes] if self.content_has_class else ())
        distinct, first, copies = np.unique(hashes, return_index=True, return_counts=True)
        of_content = codes[first]
        kept = _kept(distinct, of_content, self.share)
        rows = arrow_rows(batch, first[kept], self.names)
        frequent, counts = _fewer(distinct, copies.astype(np.int64))
        return {
            "n_of_class": np.bincount(codes, minlength=self.n_classes),
            "hash": distinct[kept],
            "code": of_content[kept],
            "copies": copies[kept].astype(np.int64),
            "rows": _written(rows),
            "facts": to_array(column_facts(batch, self.names, self.coded)),
            "frequent": frequent,
            "counts": counts,
        }


@dataclass(frozen=True)
class _Adder:
    share: float

    def __call__(self, one: Part, other: Part) -> Part:
        hashes = np.concatenate([one["hash"], other["hash"]])
        distinct, first, place = np.unique(hashes, return_index=True, return_inverse=True)
        copies = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(copies, place, np.concatenate([one["copies"], other["copies"]]))
        codes = np.concatenate([one["code"], other["code"]])[first]
        kept = _kept(distinct, codes, self.share)
        # First, since its errors say which kinds of values a column mixes.
        facts = [a | b for a, b in zip(from_array(one["facts"]), from_array(other["facts"]), strict=True)]
        rows = concatenated([_read(one["rows"]), _read(other["rows"])])
        frequent, counts = _added((one["frequent"], one["counts"]), (other["frequent"], other["counts"]))
        return {
            "n_of_class": one["n_of_class"] + other["n_of_class"],
            "hash": distinct[kept],
            "code": codes[kept],
            "copies": copies[kept],
            "rows": _written(rows.take(first[kept])),
            "facts": to_array(facts),
            "frequent": frequent,
            "counts": counts,
        }


def draw(
    rows: PartitionedRows,
    answer: Answer,
    n_classes: int,
    n_wanted: int,
    *,
    coded: Collection[str] = (),
    content_has_class: bool = False,
    progress: Progress | None = None,
    what: str = "labels",
) -> RowSample:
    """Draw a sample of about this many rows.

    Parameters
    ----------
    rows : PartitionedRows
        All rows.
    answer : callable
        Returns the class of each row of a batch, as a code.
    n_classes : int
        Number of classes.
    n_wanted : int
        Number of rows to draw.
    coded : collection of str
        Columns of numbers that are categories.
    content_has_class : bool, default False
        Whether equal rows may have different classes.
    progress : Progress, optional
        Shows how many rows are read.
    what : str, default "labels"
        What this pass over the rows is called there.
    """
    share = min(1.0, n_wanted / max(rows.n_rows, 1))
    names = rows.names or tuple(f"x{i}" for i in range(rows.head(1).shape[1]))
    count = _Counter(answer, names, frozenset(coded), share, n_classes, content_has_class)
    found = rows.reduce(count, _Adder(share), progress, what)
    frequent = _frequent(rows, found, answer, names, content_has_class, progress)
    is_frequent = np.isin(found["hash"], frequent["hash"])
    others = np.flatnonzero(~is_frequent)
    hashes = np.concatenate([found["hash"][others], frequent["hash"]])
    order = np.argsort(hashes, kind="stable")
    tables = [_read(found["rows"]).take(others), _read(frequent["rows"])] if len(frequent["hash"]) else []
    all_rows = concatenated(tables) if tables else _read(found["rows"])
    facts = from_array(found["facts"])
    return RowSample(
        _with_sorted_dictionaries(all_rows.take(order), facts),
        hashes[order] / _MAX_HASH,
        np.concatenate([found["code"][others], frequent["code"]])[order],
        np.concatenate([found["copies"][others], frequent["copies"]])[order],
        (np.arange(len(hashes)) >= len(others))[order],
        found["n_of_class"],
        facts,
    )


def _kept(hashes: Hashes, codes: NDArray[np.int32], share: float) -> NDArray[np.intp]:
    """Return which of some distinct contents, in the order of their hashes, may be in the sample."""
    is_kept = hashes / _MAX_HASH < share
    for code in np.unique(codes).tolist():
        is_kept[np.flatnonzero(codes == code)[:MIN_OF_CLASS]] = True
    return np.flatnonzero(is_kept)


# --- Frequent contents ---


def _fewer(hashes: Hashes, counts: NDArray[np.int64]) -> tuple[Hashes, NDArray[np.int64]]:
    """Return at most N_COUNTERS counters, after Misra and Gries: all counts fall until the others are 0."""
    if len(hashes) > N_COUNTERS:
        counts = counts - np.partition(counts, -N_COUNTERS - 1)[-N_COUNTERS - 1]
    is_left = counts > 0
    return hashes[is_left], counts[is_left]


def _added(
    one: tuple[Hashes, NDArray[np.int64]], other: tuple[Hashes, NDArray[np.int64]]
) -> tuple[Hashes, NDArray[np.int64]]:
    distinct, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(counts, place, np.concatenate([one[1], other[1]]))
    return _fewer(distinct, counts)


@dataclass(frozen=True)
class _FrequentCounter:
    """Counts the rows with some contents, exactly."""

    answer: Answer
    names: tuple[str, ...]
    wanted: Hashes
    content_has_class: bool

    def __call__(self, batch: Any, number: int | None) -> Part:
        codes = self.answer(batch, number)
        hashes = content_hashes(batch, [codes] if self.content_has_class else ())
        chosen = np.flatnonzero(np.isin(hashes, self.wanted))
        distinct, first, copies = np.unique(hashes[chosen], return_index=True, return_counts=True)
        return {
            "hash": distinct,
            "code": codes[chosen[first]],
            "copies": copies.astype(np.int64),
            "rows": _written(arrow_rows(batch, chosen[first], self.names)),
        }


def _add_frequent(one: Part, other: Part) -> Part:
    hashes = np.concatenate([one["hash"], other["hash"]])
    distinct, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    copies = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(copies, place, np.concatenate([one["copies"], other["copies"]]))
    rows = concatenated([_read(one["rows"]), _read(other["rows"])])
    codes = np.concatenate([one["code"], other["code"]])[first]
    return {"hash": distinct, "code": codes, "copies": copies, "rows": _written(rows.take(first))}


def _frequent(
    rows: PartitionedRows,
    found: Part,
    answer: Answer,
    names: tuple[str, ...],
    content_has_class: bool,
    progress: Progress | None,
) -> Part:
    """Return the contents that more than 2 / N_COUNTERS of all rows have, with their exact numbers."""
    n_rows = int(found["n_of_class"].sum())
    least = 2 * n_rows / N_COUNTERS
    # A counter has lost at most n_rows / (N_COUNTERS + 1).
    candidates = found["frequent"][found["counts"] > least - n_rows / (N_COUNTERS + 1)]
    none = {name: found[name][:0] for name in ("hash", "code", "copies")}
    if len(candidates) == 0:
        return none
    count = _FrequentCounter(answer, names, candidates, content_has_class)
    counted = rows.reduce(count, _add_frequent, progress, "repeated rows")
    chosen = np.flatnonzero(counted["copies"] > least)
    if len(chosen) == 0:
        return none
    return {
        **{name: counted[name][chosen] for name in ("hash", "code", "copies")},
        "rows": _written(_read(counted["rows"]).take(chosen)),
    }


# --- Rows as bytes ---


def arrow_rows(batch: Any, chosen: NDArray[np.intp], names: Sequence[str]) -> pa.Table:
    """Return some rows of a batch as an Arrow table."""
    if isinstance(batch, pa.Table):
        return batch.take(chosen).replace_schema_metadata()
    if hasattr(batch, "iloc"):
        table = pa.Table.from_pandas(batch.iloc[chosen], preserve_index=False)
        return table.replace_schema_metadata()
    if hasattr(batch, "to_arrow"):
        return batch[chosen].to_arrow().replace_schema_metadata()
    table = as_table(batch)
    return pa.table({name: pa.array(table.column(i).values[chosen]) for i, name in enumerate(names)})


def with_categories(table: pa.Table, facts: Sequence[ColumnFacts]) -> pa.Table:
    """Return rows whose columns of text state all their categories, also those of other rows."""
    known = {fact.name: fact for fact in facts if fact.kind == "text"}
    for position, name in enumerate(table.column_names):
        if name in known:
            values = pa.array(known[name].categories)
            texts = table.column(position).cast(values.type).combine_chunks()
            codes = pa.compute.index_in(texts, value_set=values)
            stated = pa.DictionaryArray.from_arrays(codes, values, ordered=known[name].declared is not None)
            table = table.set_column(position, name, stated)
    return table


def _with_sorted_dictionaries(table: pa.Table, facts: Sequence[ColumnFacts]) -> pa.Table:
    """Return rows whose dictionaries are in the order of `facts`; theirs is that in which rows were added."""
    coded = {field.name for field in table.schema if pa.types.is_dictionary(field.type)}
    return with_categories(table, [fact for fact in facts if fact.name in coded])


def _written(table: pa.Table) -> NDArray[np.uint8]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.unify_dictionaries())
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def _read(raw: NDArray[np.uint8]) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(raw)).read_all()
