"""Rows of a file, with the columns that rules or a network read, and their labels."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clausewise.cli.column_types import columns_for_rules, infer_types, require_column, target_column
from clausewise.cli.model_errors import model_errors_named
from clausewise.cli.rule_files import AnyRules
from clausewise.cli.table_files import DataError, Source, read_raw, read_table, require_fits
from clausewise.data.labels import Label, describe_unknown, read_labels
from clausewise.data.responses import read_responses
from clausewise.extractors.held_out import draw_held_out
from clausewise.networks import Network
from clausewise.networks.answers import one_number
from clausewise.rules import RegressionRules


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of raw rows and, if known, the class of each."""

    table: pa.Table
    y: NDArray[Any] | None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def X(self) -> Any:  # noqa: N802 - the scikit-learn name
        """The rows as a DataFrame of pandas, if installed: scikit-learn's transformers need it."""
        return self.table if find_spec("pandas") is None else self.table.to_pandas()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    @property
    def few(self) -> Any:
        """The rows, to see what kind of answers a network gives."""
        return self.X

    def take(self, numbers: NDArray[np.int64]) -> "Rows":
        """Return the rows with these numbers."""
        return Rows(self.table.take(pa.array(numbers)), None if self.y is None else self.y[numbers])


@dataclass(frozen=True, eq=False)
class RuleRows(Rows):
    """Rows with the columns of rules, and all columns of the file for a network that reads others."""

    all_columns: pa.Table
    source: Source

    def network_answers(self, network: Network, rules: AnyRules) -> NDArray[Any]:
        """Return what the network says about the rows: classes of the rules, or numbers."""
        rows = self._rows_for(network)
        with model_errors_named(network, rows.names, self.source, rows.table):
            if isinstance(rules, RegressionRules):
                return one_number(network.numbers(rows.X), "The network")
            labels = network.labels(rows.X)
        return _labels_as_classes(labels, rules.labels, "The network's output")

    def for_network(self, network: Network) -> Any:
        """Return the rows as the network reads them."""
        return self._rows_for(network).X

    def _rows_for(self, network: Network) -> Rows:
        names = self._names_for(network)
        if names == self.table.column_names:
            return self
        known = {name: self.table.column(name) for name in self.table.column_names}
        others = [name for name in names if name not in known]
        typed = infer_types(self.all_columns.select(others), self.source)
        known |= dict(zip(others, typed.columns, strict=True))
        return Rows(pa.table([known[name] for name in names], names=names), None)

    def _names_for(self, network: Network) -> list[str]:
        own: list[str] = self.table.column_names
        every: list[str] = self.all_columns.column_names
        if network.feature_names is not None and set(network.feature_names) <= {*own, *every}:
            return list(network.feature_names)
        return every if network.n_inputs == len(every) != len(own) else own


def rows_for_network(
    source: Source,
    network: Network,
    target: str | None,
    drop: Sequence[str],
    text: Sequence[str] = (),
    *,
    for_numbers: bool = False,
) -> Rows:
    """Read the columns that a network names, or all but the target and those to drop, and the target.

    The target is read as numbers if `for_numbers`, or if the network says that it estimates numbers.
    """
    table = read_table(source, text=text)
    for name in (*drop, *text):
        require_column(table, name, source)
    inputs = chosen_columns(table, network, target, drop, source)
    return rows_of(table, inputs, network, target, source, for_numbers=for_numbers)


def chosen_columns(
    table: pa.Table, network: Network, target: str | None, drop: Sequence[str], source: Source
) -> list[str]:
    """Return the columns that a network names, or all but the target and those to drop."""
    inputs = [name for name in table.column_names if name != target and name not in drop]
    known = network.feature_names
    if known is not None and set(known) <= set(inputs):
        inputs = list(known)
    if not inputs:
        raise DataError(f"{source.shown} has no columns besides the target.")
    return inputs


def rows_of(
    table: pa.Table,
    inputs: Sequence[str],
    network: Network,
    target: str | None,
    source: Source,
    *,
    for_numbers: bool = False,
) -> Rows:
    """Return the rows of a table with the columns of a network, and the target as it gives it."""
    labels = None if target is None else target_column(table, target, source)
    rows = Rows(_with_rows(table.select(inputs), source), None)
    if labels is None:
        return rows
    with model_errors_named(network, inputs, source, rows.table):
        if for_numbers or network.estimates_numbers(rows.X):
            return Rows(rows.table, _as_numbers(labels, _column_of(target, source)))
        network.inspect(rows.X)  # some networks know their classes only after a prediction
    classes = network.classes.tolist()
    return Rows(rows.table, _labels_as_classes(labels, classes, _column_of(target, source)))


def rows_for_rules(source: Source, rules: AnyRules, target: str | None = None) -> RuleRows:
    """Read the columns of rules, and the target."""
    table = read_raw(source)
    y = None
    if target is not None:
        values, name = target_column(table, target, source), _column_of(target, source)
        if isinstance(rules, RegressionRules):
            y = _as_numbers(values, name)
        else:
            y = _labels_as_classes(values, rules.labels, name)
        if target not in rules.features.names:
            table = table.drop_columns([target])
    columns = columns_for_rules(table, rules.features, source)
    return RuleRows(_with_rows(columns, source), y, table, source)


def rows_for_both(source: Source, old: AnyRules, new: AnyRules) -> Rows:
    """Read the columns of two rule sets."""
    table = read_raw(source)
    first, second = (columns_for_rules(table, rules.features, source) for rules in (old, new))
    for name in second.column_names:
        if name not in first.column_names:
            first = first.append_column(name, second.column(name))
    return Rows(_with_rows(first, source), None)


def split_held_out(rows: Rows, fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Draw held-out rows at random; return rows to learn from and those.

    Classes are not balanced: a guarantee is about counts in a simple random sample.
    """
    if fraction == 0.0 or len(rows) < 2:
        return rows, rows.take(np.array([], dtype=np.int64))
    is_held_out = draw_held_out(len(rows), None, fraction, np.random.RandomState(seed))
    return rows.take(np.flatnonzero(~is_held_out)), rows.take(np.flatnonzero(is_held_out))


def _as_numbers(values: Sequence[Any], name: str) -> NDArray[np.float64]:
    """Return the numbers in a column, which are texts in a CSV file."""
    numbers: list[Any] = []
    for row, value in enumerate(values):
        try:
            numbers.append(float(value))
        except (TypeError, ValueError):
            shown = "missing" if value is None else repr(value)
            raise DataError(f"{name} is {shown} in row {row}; expected a number.") from None
    return read_responses(numbers, len(numbers), name)


def _labels_as_classes(values: Any, classes: Sequence[Label], name: str) -> NDArray[Any]:
    """Return labels as the classes they mean; print a note about labels that mean none."""
    labels = read_labels(values, classes, len(values), name, allow_unknown=True)
    if labels.unknown:
        note = describe_unknown(labels.unknown, classes, name)
        warnings.warn(f"{note}; predictions for these rows count as wrong.", stacklevel=2)
    return labels.values


def _column_of(target: str | None, source: Source) -> str:
    return f"Column {target!r} of {source.shown}"


def _with_rows(table: pa.Table, source: Source) -> pa.Table:
    if table.num_rows == 0:
        raise DataError(f"{source.shown} has no rows.")
    require_fits(table, source)
    return table
