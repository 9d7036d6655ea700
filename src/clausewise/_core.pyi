"""
Compiled kernels of clausewise. Everything here is private; use the clausewise package.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

class RuleIndex:
    """A rule set made ready for evaluation."""

    def __init__(
        self,
        starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        feature: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        value_set: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        set_starts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        set_codes: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_categories: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        group_bytes: int,
    ) -> None: ...
    @overload
    def fires(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.uint64], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    @overload
    def fires(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.uint64], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """Bits of the rules (rows of out) over the rows of X."""

    @overload
    def scores(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        class_of_rule: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vote_of_rule: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        divisor_of_class: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    @overload
    def scores(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        class_of_rule: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vote_of_rule: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        divisor_of_class: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """Class totals per row, added to out, which must come as zeros."""

    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        class_of_rule: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vote_of_rule: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        divisor_of_class: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        default_class: int,
        out: Annotated[NDArray[numpy.int32], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        class_of_rule: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vote_of_rule: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        divisor_of_class: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        default_class: int,
        out: Annotated[NDArray[numpy.int32], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """Index of the winning class per row."""

    @overload
    def uncovered(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    @overload
    def uncovered(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """Clears out, which must come as ones, on every row where a rule fires."""

    @overload
    def explain(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    ]: ...
    @overload
    def explain(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    ]:
        """
        (fired starts, fired rules, near starts, near rules, failing terms), rows in compressed form.
        """

def count_bits_per_rule(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Number of set bits in each row of the bit matrix."""

def count_bits_per_row(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_rows: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Number of set bits in each column of the bit matrix."""
