"""What a network says about batches of rows, each of which it is asked about once if possible."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clausewise.base.progress import Progress
from clausewise.base.spool import Spool
from clausewise.data.features import Features
from clausewise.data.labels import Label, plain_label, read_labels
from clausewise.networks.answers import are_labels, model_rows, number_model, one_number
from clausewise.networks.detect import wrap
from clausewise.networks.network import Network
from clausewise.partitions import PartitionedRows
from clausewise.partitions.label_column import LabelColumn, column_labels
from clausewise.partitions.number_column import NumberColumn, number_column

MAX_KEPT_BYTES: Final = 2**28
HEAD_ROWS: Final = 10_000
"""So many rows show what kind of answers a model gives, and what its columns are."""


def columns_read(network: Network, rows: PartitionedRows) -> PartitionedRows:
    """Return the rows with the columns that a network names alone, if it names columns that they have."""
    wanted = network.feature_names
    if rows.names is None or wanted is None or not set(wanted) <= set(rows.names) or wanted == rows.names:
        return rows
    return rows.select(wanted)


def columns_used(rows: PartitionedRows, features: Features, *sources: Any) -> PartitionedRows:
    """Return the rows without columns that neither rules over `features` nor what they imitate reads.

    Each of the sources is a model, the name of a column, or None.
    """
    if not features.named or features.source is not None:
        return rows
    wanted = {*features.names}
    for source in sources:
        if isinstance(source, str):
            wanted.add(source)
        elif source is not None and not are_labels(source):
            model = wrap(source)
            if model.feature_names is None and model.n_inputs != len(features):
                return rows
            wanted.update(model.feature_names or ())
    return rows.only(wanted)


class KeptAnswers:
    """Answers to numbered batches: in memory, or beyond `max_memory` bytes in a temporary file.

    Parameters
    ----------
    stored : data type
        The type in which answers are stored.
    returned : data type
        The type in which they are returned.
    max_memory : int
        Bytes that may be kept in memory.
    """

    def __init__(self, stored: DTypeLike, returned: DTypeLike, max_memory: int = MAX_KEPT_BYTES) -> None:
        self._stored, self._returned = np.dtype(stored), np.dtype(returned)
        self._file = Spool(max_size=max_memory)
        self._places: dict[int, tuple[int, int]] = {}

    @classmethod
    def of_codes(cls, n_classes: int, max_memory: int = MAX_KEPT_BYTES) -> "KeptAnswers":
        """Return a store for classes as codes, in as few bytes as they need."""
        return cls(np.min_scalar_type(max(n_classes - 1, 0)), np.int32, max_memory)

    @classmethod
    def of_numbers(cls) -> "KeptAnswers":
        """Return a store for numbers."""
        return cls(np.float64, np.float64)

    def get(self, number: int) -> NDArray[Any] | None:
        """Return the answers to a batch; None if they are not known."""
        if number not in self._places:
            return None
        start, n_bytes = self._places[number]
        self._file.seek(start)
        return np.frombuffer(self._file.read(n_bytes), dtype=self._stored).astype(self._returned)

    def put(self, number: int, answers: NDArray[Any]) -> None:
        """Keep the answers to a batch."""
        start = self._file.seek(0, 2)
        raw = answers.astype(self._stored).tobytes()
        self._file.write(raw)
        self._places[number] = (start, len(raw))


@dataclass(frozen=True)
class AskedNetwork:
    """Returns the class that a network gives to each row of a batch.

    Attributes
    ----------
    network : Network
        It is sent to where the rows are.
    classes : tuple
        The classes that it has; those of a function may be found one by one.
    kept : KeptAnswers, optional
        Remembers the answers to numbered batches.
    features : Features, optional
        The columns of rules, if batches may have others, too; the network reads those that it names.
    """

    network: Network
    classes: tuple[Label, ...]
    kept: KeptAnswers | None = field(default=None, compare=False)
    features: Features | None = None

    def __call__(self, batch: Any, number: int | None) -> NDArray[np.int32]:
        """Return the class of each row of a batch, as a code."""
        known = None if self.kept is None or number is None else self.kept.get(number)
        if known is not None:
            return known
        rows = batch if self.features is None else model_rows(self.network, batch, self.features)
        codes = self.network.codes(rows)
        if len(self.network.classes) != len(self.classes):
            new = set(map(plain_label, self.network.classes.tolist())) - {*self.classes}
            raise ValueError(
                f"The model returned {new}, which it did not return for the first rows; name all classes "
                "with clausewise.wrap(model, classes=...)."
            )
        if self.kept is not None and number is not None:
            self.kept.put(number, codes)
        return codes

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kept": None}


@dataclass(frozen=True)
class TranslatedAnswers:
    """Returns what a network says about each row of a batch, as a position in `classes`.

    Attributes
    ----------
    classes : tuple
        The classes of rules, then those of the network that they do not know.
    asked : AskedNetwork
        The network.
    position : tuple of int
        The position of each of its own classes.
    """

    classes: tuple[Label, ...]
    asked: AskedNetwork
    position: tuple[int, ...]

    def __call__(self, batch: Any, number: int | None) -> NDArray[np.int32]:
        """Return the class of each row of a batch, as a code."""
        return np.array(self.position, dtype=np.int32)[self.asked(batch, number)]


def batch_labels(
    source: Any,
    rows: PartitionedRows,
    classes: Sequence[Label],
    features: Features,
    parameter: str,
    progress: Progress | None = None,
    *,
    keep: bool = False,
) -> TranslatedAnswers | LabelColumn:
    """Return what labels rows in partitions: a column, given by its name, or a model.

    `parameter` is what `source` is called by users, for messages. With `keep`, the answers of a model are
    kept for further passes over the rows.
    """
    if isinstance(source, str) or are_labels(source):
        return column_labels(source, rows, classes, parameter, progress)
    network = wrap(source)
    network.inspect(model_rows(network, rows.head(HEAD_ROWS), features))
    own = tuple(map(plain_label, network.classes.tolist()))
    found = read_labels(own, classes, len(own), parameter, allow_unknown=True)
    asked = AskedNetwork(network, own, KeptAnswers.of_codes(len(own)) if keep else None, features)
    return TranslatedAnswers(found.labels, asked, tuple(found.codes.tolist()))


@dataclass(frozen=True)
class AskedNumbers:
    """Returns the number that a network gives to each row of a batch.

    Attributes
    ----------
    network : Network
        It is sent to where the rows are.
    features : Features
        The columns of rules; batches may have others, too.
    output : int, optional
        Which output, of several.
    unit : float, default 0
        Answers are rounded to multiples of it: a network may compute a row with different last digits when
        other rows are in the batch. 0 for no rounding.
    kept : KeptAnswers, optional
        Remembers the answers to numbered batches.
    """

    network: Network
    features: Features
    output: int | None = None
    unit: float = 0.0
    kept: KeptAnswers | None = field(default=None, compare=False)

    def __call__(self, batch: Any, number: int | None) -> NDArray[np.float64]:
        """Return the number of each row of a batch."""
        known = None if self.kept is None or number is None else self.kept.get(number)
        if known is not None:
            return known
        numbers = self.network.numbers(model_rows(self.network, batch, self.features))
        chosen = one_number(numbers) if self.output is None else numbers[:, self.output]
        if not np.isfinite(chosen).all():
            raise ValueError("The model returned numbers that are not finite; leave such rows out.")
        if self.unit:
            chosen = np.rint(chosen / self.unit) * self.unit
        if self.kept is not None and number is not None:
            self.kept.put(number, chosen)
        return chosen

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kept": None}


def batch_numbers(
    source: Any, rows: PartitionedRows, features: Features, parameter: str
) -> AskedNumbers | NumberColumn:
    """Return what gives a number to rows in partitions: a column, given by its name, or a model.

    `parameter` is what `source` is called by users, for messages.
    """
    if isinstance(source, str) or are_labels(source):
        return number_column(source, rows, parameter)
    return AskedNumbers(number_model(source), features, kept=KeptAnswers.of_numbers())
