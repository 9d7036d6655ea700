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
    Return the bounds of all non-empty intersections (flat), and the left box of each.
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
    Return, per box of the range, 1 unless it is part of another box; of equal boxes the first gets 1.
    """

class ByteMatrix:
    """A table as one byte per cell, for the search of boxes."""

    def __init__(
        self,
        bins: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        n_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_values: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        tests_missing: Annotated[
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
        price: float,
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
        Return (starts, columns, accepts, signs, origins, gains) of the boxes on which a rule would help most.
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
        """Return one bit per row for every box, concatenated."""

    def reading_cost(
        self,
        starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        accepts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Return what a reader reads in the terms of every box."""

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
    Fit ridge-penalised logistic weights; return (weights, margin per row, second derivatives, objective).
    """

def weighted_cover(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    row_weight: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Return the sum of the weights of the rows on which each rule fires."""

def weighted_overlap(
    a: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    b: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    row_weight: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the sum of the weights of the rows on which both rules fire, for every pair.
    """

def column_sums(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the sum of each column over the rows on which each rule fires, concatenated.
    """

def product_sums(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the sums of products of two columns over the rows on which each rule fires, concatenated.
    """

def weighted_sums(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_rows: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Return the sum of the weights of the rules that fire on each row."""

def nearest_rows(
    points: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    queries: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    candidates: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_nearest: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """
    Return the nearest candidates of each queried row but itself, the nearest first, concatenated.
    """

class ChangeSearch:
    """Changes of rows that change what a rule set decides."""

    def __init__(
        self,
        bin_starts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        accepts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        value_starts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        bin_of_value: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        direction: Annotated[
            NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        units: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        class_of_rule: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vote_of_rule: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        has_priority: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        start: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        divisors: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        priority_divisors: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        default_class: int,
    ) -> None: ...
    def search(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        bins: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        decided: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        wanted: int,
        two_features: bool,
        within_bins: bool,
        n_changes: int,
        is_spread: bool,
        n_threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    ]:
        """
        Return (starts, first values, second values or -1) of the changes of each row, cheapest first.
        """

class RuleIndex:
    """A rule set prepared for evaluation."""

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
        missing: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
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
        """Write one bit per row of X for each rule (row of out)."""

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
        """Write the class totals per row to out."""

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
        """Write the index of the winning class per row to out."""

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
        """
        Set out, filled with 1 by the caller, to 0 on every row where a rule fires.
        """

    def explain_row(
        self,
        row: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    ]:
        """
        Return the rules that fire, the near misses, and the term that fails in each of these.
        """

def count_bits_per_rule(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Count the set bits in each row of the bit matrix."""

def sum_bits_per_rule(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Add the weights of the set bits in each row of the bit matrix, in order.
    """

def count_bits_per_row(
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_rows: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Count the set bits in each column of the bit matrix."""

class Matrix:
    """
    A table prepared once for many fits: ranks of single-precision values, shared read-only.
    """

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def memory(self) -> int:
        """Memory used, in bytes."""

    def ranks(self, column: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        Return the rank of each row's value in the column, or the code of its category; -1 if missing.
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
        Return, per (column, rank), the greatest original number of this rank and the smallest of the next.
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
) -> Matrix:
    """
    Prepare a table; n_categories is 0 for a continuous column, otherwise the number of its categories.
    """

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
        trials: int = 1,
        early_stopping: bool = True,
        fuzzy_threshold: bool = False,
        always_in_leaf_order: bool = False,
    ) -> None: ...

class C50Model:
    """One or more fitted C5.0 trees, and their rules if they were requested."""

    @property
    def n_classes(self) -> int: ...
    @property
    def n_trials(self) -> int: ...
    @property
    def stop(self) -> str | None:
        """Why boosting stopped early: "accurate", "inaccurate" or None."""

    @property
    def is_abandoned(self) -> bool:
        """Did boosting leave too few trials, so that only the first was kept?"""

    @property
    def n_errors(self) -> int:
        """Training rows that all trials together classify wrongly."""

    def default_label(self, trial: int = 0) -> int: ...
    def n_leaves(self, trial: int = 0) -> int:
        """Return the number of leaves that are not empty."""

    def n_trial_errors(self, trial: int = 0) -> int:
        """Return the number of training rows that a trial classifies wrongly."""

    def mean_confidence(self, trial: int = 0) -> float:
        """
        Return the mean confidence with which a trial votes on the training rows.
        """

    @property
    def in_use(self) -> list[bool]:
        """Per column: did winnowing keep it?"""

    @property
    def usage(self) -> list[float]:
        """
        Per column: the weight of the training rows whose path or rules test it.
        """

    @property
    def seconds(self) -> dict:
        """Wall-clock seconds of each stage of the fit."""

    def rules(self, trial: int = 0) -> dict:
        """Return the rules of a trial as flat arrays."""

    def tree(self, trial: int = 0) -> dict:
        """Return the tree of a trial as flat arrays."""

class FlatTree:
    """A finished C5.0 tree, for classifying rows."""

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
        cut: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        low: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        high: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
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
        Return class scores (rows × classes, flat) and the mean size of the leaves that each row reaches.
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
    is_ordered: Sequence[bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> C50Model:
    """
    Fit one C5.0 model; classes are codes in declared order, costs are [predicted × actual].
    """

def fit_c50_many(
    matrix: Matrix,
    targets: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    positive_weights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    options: C50Options,
    n_threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
) -> list[C50Model]:
    """Fit one two-class model per row of targets; class 0 is true."""

def sampled_rows(n_rows: int, fraction: float, seed: int) -> list[int]:
    """Return the rows that C5.0 samples for training."""

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
    """
    A grown CART tree, with the pruning strength (alpha) at which each node becomes a leaf.
    """

    def labels(
        self,
        matrix: Matrix,
        rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        alpha: float,
    ) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        Return the class predicted for each of these rows of the matrix by the tree pruned at alpha.
        """

    @property
    def label(self) -> int:
        """The class predicted by the root: the most frequent one."""

    def alphas(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Return the values of alpha at which nodes become leaves."""

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
    Grow a tree that predicts the classes of the rows of the matrix, or of the given rows.
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
    """Grow one tree per row of targets; class 0 is true."""

def cart_paths(
    trees: Sequence[CartTree],
    alphas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    only_label: int | None = None,
) -> dict:
    """
    Return the conditions on the paths to the leaves of trees pruned at these alphas, as flat arrays.
    """

@overload
def row_hashes(
    table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
    keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
@overload
def row_hashes(
    table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """
    Return a hash of each row's values in single precision, with a key for each column.
    """
