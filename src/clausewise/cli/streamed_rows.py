"""Rows of Parquet files that are not read into memory at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clausewise.cli.column_types import columns_for_rules, require_column
from clausewise.cli.input_rows import Rows, chosen_columns, rows_of
from clausewise.cli.table_files import Source, n_rows_of, read_batches
from clausewise.compact.compaction import FEW_ROWS
from clausewise.data.hashing import mix
from clausewise.networks import Network
from clausewise.partitions import PartitionedRows
from clausewise.partitions.contents import content_hashes
from clausewise.partitions.schemas import concatenated
from clausewise.partitions.streamed import ArrowRows
from clausewise.rules import RegressionRules, RuleSet

_FEW = 10_000  # rows that show what kind of answers a network gives
_MAX_HELD_OUT = 100_000


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Many rows, read in parts; as `Rows`, without classes and a table."""

    X: PartitionedRows
    y: None = None
    table: None = None

    def __len__(self) -> int:
        return self.X.n_rows

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return self.X.names or ()

    @property
    def few(self) -> Any:
        """The first rows as a DataFrame."""
        return self.X.head(_FEW)


def is_large(source: Source) -> bool:
    """Return whether a source has more rows than are learnt from in memory."""
    n_rows = n_rows_of(source)
    return n_rows is not None and n_rows > FEW_ROWS


def streamed_for_network(
    source: Source,
    network: Network,
    target: str | None,
    drop: Sequence[str],
    holdout: float,
    seed: int,
    *,
    for_numbers: bool = False,
) -> tuple[StreamedRows, Rows]:
    """Return rows to learn from, and held-out rows, about 100,000 of them at most, in memory.

    Rows are held out by a hash of their contents, so that equal rows are not on both sides.
    """
    first = next(read_batches(source))
    for name in (*drop, *([] if target is None else [target])):
        require_column(first, name, source)
    inputs = chosen_columns(first, network, target, drop, source)
    n_rows = n_rows_of(source) or 0
    is_held_out = _HeldOut(min(holdout, _MAX_HELD_OUT / max(n_rows, 1)), seed)

    def learnt(names: list[str] | None) -> Iterator[pa.Table]:
        for batch in _with_columns(source, inputs):
            chosen = batch.select(inputs if names is None else names)
            yield (
                chosen.filter(pa.array(~is_held_out(batch.select(inputs))))
                if is_held_out.fraction
                else chosen
            )

    rows = _rows(source, learnt, inputs, is_held_out.fraction == 0.0)
    if is_held_out.fraction == 0.0:
        return rows, Rows(first.select(inputs).slice(0, 0), None)
    needed = list(dict.fromkeys([*inputs, *([] if target is None else [target])]))
    kept = [
        batch.select(needed).filter(pa.array(is_held_out(batch.select(inputs))))
        for batch in _with_columns(source, needed)
    ]
    held_out = concatenated(kept)
    return rows, rows_of(held_out, inputs, network, target, source, for_numbers=for_numbers)


def streamed_for_rules(source: Source, rules: RuleSet | RegressionRules) -> PartitionedRows:
    """Return rows with the columns of rules as they expect them, and all other columns."""

    def read(names: list[str] | None) -> Iterator[pa.Table]:
        for batch, part in _batches(source):
            own = columns_for_rules(batch, rules.features, part)
            others = [name for name in batch.column_names if name not in own.column_names]
            joined = pa.table(
                [*own.columns, *batch.select(others).columns], names=[*own.column_names, *others]
            )
            for name in names or ():
                require_column(joined, name, part)
            yield joined if names is None else joined.select(names)

    return _rows(source, read, next(read(None)).column_names, True).X


def _batches(source: Source) -> Iterator[tuple[pa.Table, Source]]:
    """Iterate over batches and the file that each is of."""
    for part in source.files:
        for batch in read_batches(part):
            yield batch, part


def _with_columns(source: Source, names: Sequence[str]) -> Iterator[pa.Table]:
    """Iterate over batches; an error names the file that lacks one of the columns."""
    for batch, part in _batches(source):
        for name in names:
            require_column(batch, name, part)
        yield batch


def _rows(
    source: Source,
    read: Callable[[list[str] | None], Iterator[pa.Table]],
    names: Sequence[str],
    is_all: bool,
) -> StreamedRows:
    def count() -> int:
        stated = n_rows_of(source) if is_all else None
        return sum(batch.num_rows for batch in read(None)) if stated is None else stated

    return StreamedRows(ArrowRows(source.shown, read, names, count))


@dataclass(frozen=True)
class _HeldOut:
    """Returns which rows of a batch are held out."""

    fraction: float
    seed: int

    def __call__(self, batch: pa.Table) -> NDArray[np.bool_]:
        hashes = content_hashes(batch) ^ np.uint64(self.seed)
        mix(hashes)
        return np.asarray(hashes / 2.0**64 < self.fraction)
