"""
Compiled kernels of clausewise. Everything here is private; use the clausewise package.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

def intersect_boxes(
    low: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    high: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    other_low: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    other_high: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple:
    """
    Bounds of all non-empty intersections (flat), and the left box of each.
    """

def unsubsumed_boxes(
    low: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    high: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    begin: int,
    end: int,
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """
    Per box of the range: 1 if it is not part of another box (of equal ones the first).
    """

class ByteMatrix:
    """A table as one byte per cell, ready for the search of boxes."""

    def __init__(
        self,
        bins: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        n_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        is_nominal: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    def search(
        self,
        gradient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        curvature: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        accepts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        signs: Sequence[int],
        penalty: float,
        max_terms: int,
        min_rows: int,
        beam_width: int,
        n_refined: int,
        n_columns: int,
        max_moves: int,
        min_growth: float,
        min_increase: float,
        n_threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]:
        """
        (starts, columns, accepts, signs, origins, gains) of the boxes on which a rule would help most.
        """

    def covered(
        self,
        starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        accepts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """One bit per row for every box, box after box."""

def fit_weights(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    row_weight: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    penalty: float,
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    max_steps: int,
    tolerance: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    float,
]:
    """
    (weights and intercept, margin per row, second derivatives, objective) of a ridge-penalised logistic fit.
    """

def weighted_cover(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    row_weight: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Sum of the weights of the rows on which each rule fires."""

def weighted_overlap(
    a: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    b: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    row_weight: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Sum of the weights of the rows on which both fire, for every pair."""

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
        base_of_class: Annotated[
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
        base_of_class: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """Class totals per row, written to out."""

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
        base_of_class: Annotated[
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
        base_of_class: Annotated[
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

class Matrix:
    """
    Columns prepared once for many fits: single-precision ranks, shared read-only.
    """

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def memory(self) -> int:
        """Bytes held."""

    def ranks(self, column: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        Rank of each row's value in the column, or the code of its category; -1 if missing.
        """

    @overload
    def gaps(
        self,
        table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        columns: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        ranks: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> tuple: ...
    @overload
    def gaps(
        self,
        table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        columns: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        ranks: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> tuple:
        """
        For each (column, rank): the greatest original number of this rank and the smallest of the next.
        """

@overload
def prepare_matrix(
    table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
    n_categories: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Matrix: ...
@overload
def prepare_matrix(
    table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    n_categories: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Matrix: ...

class C50Options:
    """Settings of one C5.0 fit."""

    def __init__(
        self,
        *,
        rules: bool = True,
        min_cases: float = 2.0,
        cf: float = 0.25,
        winnow: bool = False,
        global_pruning: bool = True,
        subset: bool = True,
        always_in_leaf_order: bool = False,
    ) -> None: ...

class C50Model:
    """A fitted C5.0 tree and, if asked for, its rules."""

    @property
    def n_classes(self) -> int: ...
    @property
    def default_label(self) -> int: ...
    @property
    def in_use(self) -> list[bool]:
        """Which columns winnowing left."""

    @property
    def usage(self) -> list[float]:
        """Weight of the training rows each column decides about."""

    @property
    def seconds(self) -> dict:
        """Seconds of each stage of the fit."""

    def rules(self) -> dict: ...
    def tree(self) -> dict: ...

class FlatTree:
    """A finished tree for classifying rows."""

    def __init__(
        self,
        n_classes: int,
        kind: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        threshold: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        distribution: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        child_start: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        value_start: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        value_branch: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    @overload
    def classify(
        self,
        table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int = 1,
    ) -> tuple: ...
    @overload
    def classify(
        self,
        table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int = 1,
    ) -> tuple:
        """
        Scores (rows × classes, flat) and the mean size of the leaves that each row reaches.
        """

def fit_c50(
    matrix: Matrix,
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None,
    costs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None,
    options: C50Options,
    n_threads: int = 1,
) -> C50Model:
    """
    One C5.0 model; classes are codes in declared order, costs are [predicted × actual].
    """

def fit_c50_many(
    matrix: Matrix,
    targets: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    positive_weights: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    options: C50Options,
    n_threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[C50Model]:
    """One two-class model per row of targets; class 0 is true."""

def sampled_rows(n_rows: int, fraction: float, seed: int) -> list[int]:
    """The rows that C5.0's sampling takes."""

class CartOptions:
    """Settings of one CART tree."""

    def __init__(
        self,
        *,
        entropy: bool = False,
        min_split: int = 2,
        min_leaf: int = 1,
        max_leaves: int = 0,
        prunes: bool = True,
    ) -> None: ...

class CartTree:
    """A grown tree that knows how strongly it must be pruned to lose a test."""

    def labels(
        self,
        matrix: Matrix,
        rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        alpha: float,
    ) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The class of rows of a matrix by the tree pruned as strongly as alpha."""

    @property
    def label(self) -> int:
        """The most frequent class."""

    def alphas(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Strengths of pruning at which tests are lost."""

def grow_cart(
    matrix: Matrix,
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None,
    rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None,
    options: CartOptions,
) -> CartTree:
    """
    A tree that tells the classes of the matrix's rows, or of some of them, apart.
    """

def grow_cart_many(
    matrix: Matrix,
    targets: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    positive_weights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    options: CartOptions,
    n_threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[CartTree]:
    """One tree per row of targets; class 0 is true."""

def cart_paths(
    trees: Sequence[CartTree],
    alphas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    only_label: int | None = None,
) -> dict:
    """
    The conditions that lead to the leaves of trees pruned as strongly as asked for, as flat arrays.
    """
