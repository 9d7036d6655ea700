"""What the learner works on: rounded values, case weights, costs, the drawn sample (spec 1, 6, App. B, B9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .c50_numbers import class_sums, f32, quotient32, sum_in_order

CONTINUOUS = "c"
DISCRETE = "d"
ORDERED = "o"
MISSING_CODE = -1


@dataclass(frozen=True)
class Options:
    """Options under the names of the library; spec names in brackets."""

    rules: bool = True
    min_cases: float = 2  # minCases
    cf: float = 0.25  # CF
    winnow: bool = False
    global_pruning: bool = True  # not noGlobalPruning
    subset: bool = True
    sample: float = 0.0
    seed: int = 0
    costs: tuple | None = None  # [predicted][actual]
    trials: int = 1
    early_stopping: bool = True
    fuzzy: bool = False  # fuzzyThreshold


@dataclass(frozen=True)
class Costs:
    """A cost matrix in force (spec 6)."""

    matrix: np.ndarray  # [predicted][actual]: 0 on the diagonal, elsewhere >= 1
    class_factor: np.ndarray | None  # the spec's mu, only with two classes (float32)

    @property
    def reweights_cases(self) -> bool:
        return self.class_factor is not None

    def expected(self, class_scores: Sequence[float]) -> list[float]:
        """Expected cost of predicting each class, classes in order; products and sums are double (B9.8)."""
        n_classes = len(class_scores)
        return [
            sum_of(float(class_scores[d]) * float(self.matrix[c][d]) for d in range(n_classes) if d != c)
            for c in range(n_classes)
        ]


def sum_of(terms) -> float:
    """Plain left-to-right double sum (Python's `sum` compensates rounding since 3.12)."""
    total = 0.0
    for term in terms:
        total += term
    return total


@dataclass
class TrainingSet:
    """The cases of one fit. `weights` is changed and restored while a tree is built, and the rounding drift of that
    persists into pruning, rules and further trials (spec 9.4, B1.5), hence one mutable array. Only winnowing restores
    the initial weights."""

    columns: list[np.ndarray]  # float32 with NaN, or int codes with -1
    kinds: Sequence[str]
    n_values: Sequence[int]  # declared values per discrete column, 0 for continuous
    classes: np.ndarray
    n_classes: int
    weights: np.ndarray  # float32
    min_cases: float
    subset: bool
    rules: bool
    costs: Costs | None
    growing_cases: np.ndarray | None = None  # the spec's G, None means all
    leaf_ratio: np.float32 = f32(0)  # the spec's rho, 0 means no limit
    keeps_many_values: bool = True  # every attribute has very many values, so none is ignored (B7)
    n_cuts: dict[int, int] | None = None  # cuts(a) as recorded in trial 0 (B2.5)
    in_use: list[bool] = field(default_factory=list)  # attributes left by winnowing
    known: list[np.ndarray] = field(default_factory=list)
    has_missing: list[bool] = field(default_factory=list)
    initial_weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.initial_weights = self.weights.copy()
        self.in_use = [True] * len(self.columns)
        self.known = [known_cells(column, kind) for column, kind in zip(self.columns, self.kinds)]
        self.has_missing = [not bool(known.all()) for known in self.known]
        self.keeps_many_values = all(self.has_many_values(a, self.n_cases) for a in range(len(self.columns)))

    @property
    def n_cases(self) -> int:
        return len(self.classes)

    @property
    def all_cases(self) -> np.ndarray:
        return np.arange(self.n_cases)

    def is_ordered(self, feature: int) -> bool:
        """An ordered factor with at most two levels is an ordinary discrete attribute (B8)."""
        return self.kinds[feature] == ORDERED and self.n_values[feature] >= 3

    def has_many_values(self, feature: int, n_cases: int) -> bool:
        """V' >= 0.3 N (B7); ordered tests have two branches, so the number of levels does not matter to them."""
        is_discrete = self.kinds[feature] != CONTINUOUS and not self.is_ordered(feature)
        return is_discrete and self.n_values[feature] + 1 >= 0.3 * n_cases

    def restore_weights(self) -> None:
        self.weights = self.initial_weights.copy()

    def class_weights(self, cases: np.ndarray) -> np.ndarray:
        return class_sums(self.classes[cases], self.weights[cases], self.n_classes)

    def uncosted_weights(self, cases: np.ndarray) -> np.ndarray:
        """w_i / mu of the case's class (float32): the weights before two-class costs came in (spec 6)."""
        return self.weights[cases] / self.costs.class_factor[self.classes[cases]]


def known_cells(column: np.ndarray, kind: str) -> np.ndarray:
    return ~np.isnan(column) if kind == CONTINUOUS else column != MISSING_CODE


def rounded_column(column: np.ndarray, kind: str) -> np.ndarray:
    """Continuous values in single precision with -0 turned into +0 (spec 1.1)."""
    if kind != CONTINUOUS:
        return np.asarray(column, dtype=np.int64)
    values = np.asarray(column, dtype=np.float64)
    if np.isinf(values).any():
        raise ValueError(
            "A continuous column holds an infinite value; C5.0 accepts finite values and NaN (missing)."
        )
    with np.errstate(over="ignore"):
        return values.astype(np.float32) + f32(0)  # -0 + 0 = +0


def prepare(columns, kinds, y, n_classes, options: Options, weights, n_values) -> TrainingSet:
    """Everything before winnowing: drop cases without class, sample, weigh, apply costs."""
    y = np.asarray(y, dtype=np.int64)
    rows = np.flatnonzero(y >= 0)
    if options.sample > 0:
        rows = rows[sampled(len(rows), options.sample, options.seed)]
    if len(rows) == 0:
        raise ValueError("There is no case with a class; pass at least one case whose y is >= 0.")
    classes = y[rows]
    given = None if weights is None else np.asarray(weights, dtype=np.float64)[rows].astype(np.float32)
    relative = relative_weights(given, len(rows))
    costs = costs_in_force(options.costs, classes, given, n_classes)
    min_cases = float(options.min_cases)
    if costs is not None and costs.reweights_cases:
        # One rounding of the double product (B9.4).
        relative = costs.class_factor[classes].astype(np.float64) * relative
        min_cases = float(f32(f32(min_cases) * costs.class_factor.min()))
    return TrainingSet(
        columns=[rounded_column(np.asarray(column)[rows], kind) for column, kind in zip(columns, kinds)],
        kinds=list(kinds),
        n_values=[0] * len(columns) if n_values is None else list(n_values),
        classes=classes,
        n_classes=n_classes,
        weights=relative.astype(np.float32),
        min_cases=min_cases,
        subset=options.subset,
        rules=options.rules,
        costs=costs,
    )


def relative_weights(weights: np.ndarray | None, n_cases: int) -> np.ndarray:
    """Case weights divided by the mean positive weight, double; missing or non-positive ones count 1 (spec 6)."""
    relative = np.ones(n_cases)
    positive = np.zeros(n_cases, dtype=bool) if weights is None else weights > 0  # NaN compares false
    if positive.any():
        mean = sum_in_order(weights[positive]) / int(positive.sum())
        relative[positive] = weights[positive].astype(np.float64) / mean
    return relative


def costs_in_force(given, classes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> Costs | None:
    """The effective matrix: entries <= 1 mean 1; None if no entry exceeds 1 (spec 6)."""
    if given is None:
        return None
    matrix = np.array(given, dtype=np.float64)
    np.fill_diagonal(matrix, 0.0)
    if not (matrix > 1).any():
        return None
    matrix = np.where(matrix > 1, matrix, 1.0).astype(np.float32)
    np.fill_diagonal(matrix, 0.0)
    if n_classes != 2:
        return Costs(matrix, None)
    raw = np.ones(len(classes)) if weights is None else np.where(weights > 0, weights, 1.0)  # B9.4
    first, second = class_sums(classes, raw, 2)
    cost_if_missed = f32(matrix[1][0]), f32(matrix[0][1])  # of class 0, of class 1
    scale = f32((first * float(cost_if_missed[0]) + second * float(cost_if_missed[1])) / (first + second))
    return Costs(matrix, np.array([quotient32(cost, scale) for cost in cost_if_missed], dtype=np.float32))


class Draws:
    """The subtractive random number generator of App. B."""

    def __init__(self, seed: int) -> None:
        self.u = [0.0] * 55
        p, q = 1.0, 0.314159285
        for t in range(1, 56):
            j = 21 * t % 55
            self.u[j] = p
            p, q = q - p, p
            if p < 0:
                p += 1
        for _ in range(6):
            for j in range(55):
                self._subtract(j, (j + 30) % 55)
        self.first, self.second = 0, 31
        for _ in range(seed + 1000):
            self.draw()

    def _subtract(self, target: int, other: int) -> None:
        self.u[target] -= self.u[other]
        if self.u[target] < 0:
            self.u[target] += 1

    def draw(self) -> float:
        self.first = (self.first + 1) % 55
        self.second = (self.second + 1) % 55
        self._subtract(self.first, self.second)
        return self.u[self.first]


def sampled(n_cases: int, fraction: float, seed: int) -> np.ndarray:
    """Positions of the cases taken for training, in order (App. B)."""
    draws = Draws(seed)
    wanted = int(np.floor(n_cases * fraction + 0.5))
    taken = []
    for position in range(n_cases):
        left = n_cases - position
        if draws.draw() < float(f32(wanted / left)):
            taken.append(position)
            wanted -= 1
    return np.array(taken, dtype=np.int64)
