"""What a network says about batches of rows, each of which it is asked about once if possible."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.progress import Progress
from clausewise.base.spool import Spool
from clausewise.data.features import Features
from clausewise.data.labels import Label, plain_label, read_labels
from clausewise.networks.answers import are_labels, model_rows
from clausewise.networks.detect import wrap
from clausewise.networks.network import Network
from clausewise.partitions import PartitionedRows
from clausewise.partitions.label_column import LabelColumn, column_labels

MAX_KEPT_BYTES: Final = 2**28
HEAD_ROWS: Final = 10_000
"""So many rows show what kind of answers a model gives, and what its columns are."""


class KeptCodes:
    """Codes of numbered batches: in memory, or beyond `max_memory` bytes in a temporary file."""

    def __init__(self, n_classes: int, max_memory: int = MAX_KEPT_BYTES) -> None:
        self._type = np.min_scalar_type(max(n_classes - 1, 0))
        self._file = Spool(max_size=max_memory)
        self._places: dict[int, tuple[int, int]] = {}

    def get(self, number: int) -> NDArray[np.int32] | None:
        """Return the codes of a batch; None if they are not known."""
        if number not in self._places:
            return None
        start, n_bytes = self._places[number]
        self._file.seek(start)
        return np.frombuffer(self._file.read(n_bytes), dtype=self._type).astype(np.int32)

    def put(self, number: int, codes: NDArray[np.int32]) -> None:
        """Keep the codes of a batch."""
        start = self._file.seek(0, 2)
        raw = codes.astype(self._type).tobytes()
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
    kept : KeptCodes, optional
        Remembers the answers to numbered batches.
    features : Features, optional
        The columns of rules, if batches may have others, too; the network reads those that it names.
    """

    network: Network
    classes: tuple[Label, ...]
    kept: KeptCodes | None = field(default=None, compare=False)
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
    asked = AskedNetwork(network, own, KeptCodes(len(own)) if keep else None, features)
    return TranslatedAnswers(found.labels, asked, tuple(found.codes.tolist()))
