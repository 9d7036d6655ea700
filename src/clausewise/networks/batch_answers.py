"""What a network says about batches of rows, each of which it is asked about once if possible."""

import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import Label, plain_label
from clausewise.networks.network import Network


class KeptCodes:
    """Codes of numbered batches: in memory, or beyond `max_memory` bytes in a temporary file."""

    def __init__(self, n_classes: int, max_memory: int) -> None:
        self._type = np.min_scalar_type(max(n_classes - 1, 0))
        self._file = tempfile.SpooledTemporaryFile(max_size=max_memory)  # noqa: SIM115 - lives as long as this
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
    """

    network: Network
    classes: tuple[Label, ...]
    kept: KeptCodes | None = field(default=None, compare=False)

    def __call__(self, batch: Any, number: int | None) -> NDArray[np.int32]:
        """Return the class of each row of a batch, as a code."""
        known = None if self.kept is None or number is None else self.kept.get(number)
        if known is not None:
            return known
        codes = self.network.codes(batch)
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
