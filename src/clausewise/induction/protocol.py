"""The protocol of rule inducers, and running one on many targets."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Matrix
from clausewise.data.weights import are_moderate
from clausewise.induction.matrix import PreparedMatrix
from clausewise.induction.spreading import n_workers_elsewhere, spread
from clausewise.rules import Rule, RuleSet

ProgressCallback = Callable[[int, int], None]
"""Called with the number of finished targets and the number of all targets."""

# The reference declares the classes of a clause's target in this order, which breaks C5.0's ties.
BINARY_CLASSES: tuple[bool, bool] = (True, False)


@runtime_checkable
class Inducer(Protocol):
    """The paper's ψ: learns rules that predict the class of each row.

    Any object with this method is an inducer. If it also has the method
    `induce_many(matrix, targets, *, positive_weights, n_jobs, progress)`, it gets all targets at once; if it
    has `induce_premises` with the same parameters, it may omit the rules that predict False. Where rows have
    weights, these methods are only called if they have a parameter `weights`, too.
    """

    def induce(
        self,
        matrix: PreparedMatrix,
        codes: NDArray[np.int32],
        classes: Sequence[Label],
        *,
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> RuleSet:
        """Learn rules over the matrix's features.

        Parameters
        ----------
        matrix : PreparedMatrix
            The training rows.
        codes : ndarray of shape (n_rows,)
            Class of each row, as a position in `classes`.
        classes : sequence
            The class labels in declared order, which may break ties; some may have no rows.
        weights : ndarray of shape (n_rows,), optional
            Positive case weights.
        n_jobs : int, optional
            Number of threads; must not change the result.

        Returns
        -------
        RuleSet
            Rules over these classes and the matrix's features, with cover, correct and confidence on the
            training rows, and the default class.
        """
        ...


def induce_many(
    inducer: Inducer,
    matrix: PreparedMatrix,
    targets: NDArray[np.bool_],
    *,
    weights: NDArray[np.float64] | None = None,
    positive_weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> list[RuleSet]:
    """Learn one rule set per row of `targets`, over the classes True and False.

    Parameters
    ----------
    inducer : Inducer
        Learns the rules.
    matrix : PreparedMatrix
        The training rows, shared by all fits.
    targets : ndarray of bool, of shape (n_targets, n_rows)
        For each target, the class of each row.
    weights : ndarray of shape (n_rows,), optional
        Positive case weights.
    positive_weights : ndarray of shape (n_targets,), optional
        The weight of a True row of each target relative to a False one, to balance rare targets.
    n_jobs : int, optional
        Number of threads; by default all usable cores. It does not change any result.
    progress : callable, optional
        Called from time to time with the number of finished targets and the number of all targets.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.induction import PreparedMatrix, get_inducer, induce_many
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> targets = np.array([X[:, 0] > 6, X[:, 1] > 8])
    >>> for rules in induce_many(get_inducer("c5.0"), PreparedMatrix.prepare(X), targets):
    ...     print([str(rule.terms[0]) for rule in rules], rules.default)
    ['x0 > 6', 'x0 ≤ 6'] False
    ['x1 > 8', 'x1 ≤ 8'] False
    """
    targets, positive_weights = _checked(matrix, targets, positive_weights, progress)
    at_once = _method_for_all(inducer, "induce_many", weights, positive_weights)
    if at_once is not None:
        found = at_once(matrix, targets, positive_weights=positive_weights, n_jobs=n_jobs, progress=progress)
        return cast("list[RuleSet]", found)
    return _one_by_one(inducer, matrix, targets, weights, positive_weights, n_jobs, progress)


@dataclass(frozen=True)
class Premises:
    """The rules that predict True, of several targets.

    Attributes
    ----------
    rules : RuleSet
        Rules that predict True, sorted by target.
    target : ndarray of int, of shape (n_rules,)
        The target that each rule belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.induction import PreparedMatrix, get_inducer, induce_premises
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> targets = np.array([X[:, 0] > 6, X[:, 1] > 8])
    >>> premises = induce_premises(get_inducer("c5.0"), PreparedMatrix.prepare(X), targets)
    >>> for rule, target in zip(premises.rules, premises.target.tolist()):
    ...     print(target, *rule.terms)
    0 x0 > 6
    1 x1 > 8
    """

    rules: RuleSet
    target: NDArray[np.intp]

    @staticmethod
    def joined(parts: Sequence["Premises"]) -> "Premises":
        """Concatenate the premises of all parts."""
        first = parts[0].rules
        listed = [part.rules for part in parts]
        rules = RuleSet.concatenate(listed, first.features, first.classes, default=first.default)
        return Premises(rules, np.concatenate([part.target for part in parts]))


def induce_premises(
    inducer: Inducer,
    matrix: PreparedMatrix,
    targets: NDArray[np.bool_],
    *,
    weights: NDArray[np.float64] | None = None,
    positive_weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Premises:
    """Learn the rules that predict True for each row of `targets` (the paper's getPremisesByConclusion).

    A target without rules whose default is True gets a premise that always holds.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,), optional
        Positive case weights.
    inducer, matrix, targets, positive_weights, n_jobs, progress
        As for `induce_many`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.induction import PreparedMatrix, get_inducer, induce_premises
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> targets = np.array([(X[:, 0] > 6) & (X[:, 1] <= 4)])
    >>> premises = induce_premises(get_inducer("c5.0"), PreparedMatrix.prepare(X), targets)
    >>> [str(term) for term in premises.rules[0].terms], premises.target.tolist()
    (['x0 > 6', 'x1 ≤ 4'], [0])
    """
    targets, positive_weights = _checked(matrix, targets, positive_weights, progress)
    n_workers = n_workers_elsewhere()
    if n_workers and len(targets) > 1:
        return _premises_from_workers(
            n_workers, inducer, matrix, targets, weights, positive_weights, progress
        )
    return _premises(inducer, matrix, targets, weights, positive_weights, n_jobs, progress)


def _premises(
    inducer: Inducer,
    matrix: PreparedMatrix,
    targets: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    positive_weights: NDArray[np.float64] | None,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> Premises:
    at_once = _method_for_all(inducer, "induce_premises", weights, positive_weights)
    if at_once is not None:
        found = at_once(matrix, targets, positive_weights=positive_weights, n_jobs=n_jobs, progress=progress)
        return cast("Premises", found)
    listed = induce_many(
        inducer,
        matrix,
        targets,
        weights=weights,
        positive_weights=positive_weights,
        n_jobs=n_jobs,
        progress=progress,
    )
    parts = [_premises_of(rules, matrix) for rules in listed]
    target = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Premises(RuleSet.concatenate(parts, matrix.features, BINARY_CLASSES, default=False), target)


def _premises_from_workers(
    n_workers: int,
    inducer: Inducer,
    matrix: PreparedMatrix,
    targets: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    positive_weights: NDArray[np.float64] | None,
    progress: ProgressCallback | None,
) -> Premises:
    """Learn the premises of some targets at a time on other machines."""
    # More parts would even out the work of slow targets, but each part ranks the table anew.
    groups = np.array_split(np.arange(len(targets)), min(len(targets), 2 * n_workers))
    calls = [
        (targets[group], None if positive_weights is None else positive_weights[group]) for group in groups
    ]
    shared = (matrix.table, weights, matrix.features, matrix.keeps_distinct, inducer)
    found = []
    for group, part in zip(groups, spread(_premises_of_part, calls, *shared), strict=True):
        found.append(Premises(part.rules, part.target + group[0]))
        if progress is not None:
            progress(int(group[-1]) + 1, len(targets))
    return Premises.joined(found)


def _premises_of_part(
    targets: NDArray[np.bool_],
    positive_weights: NDArray[np.float64] | None,
    table: Matrix,
    weights: NDArray[np.float64] | None,
    features: Features,
    keeps_distinct: bool,
    inducer: Inducer,
) -> Premises:
    matrix = PreparedMatrix(features, table, 1, keeps_distinct)
    return _premises(inducer, matrix, targets, weights, positive_weights, 1, None)


def rules_or_default(rules: RuleSet, matrix: PreparedMatrix) -> RuleSet:
    """Return the rules or, if there are none, one rule that predicts the default class for every row.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.induction import PreparedMatrix, rules_or_default
    >>> none = RuleSet.from_rules([], ["age"], default="low", classes=["low", "high"])
    >>> matrix = PreparedMatrix.prepare(np.array([[30.0], [40.0]]), features=none.features)
    >>> print(rules_or_default(none, matrix))
    1 rule for the classes low, high; voting confidence, otherwise low
    0  IF anything THEN low   (confidence 1.00, covers 2)
    """
    if not isinstance(rules, RuleSet):
        raise TypeError(f"The inducer returned a {type(rules).__name__}; it must return a RuleSet.")
    if len(rules) > 0:
        return rules
    always = Rule((), rules.default, cover=float(matrix.n_rows))
    return RuleSet.from_rules(
        [always], matrix.features, default=rules.default, classes=rules.classes, voting=rules.voting
    )


def _premises_of(rules: RuleSet, matrix: PreparedMatrix) -> RuleSet:
    return rules_or_default(rules, matrix).concluding(True).with_default(False)


def _method_for_all(
    inducer: Inducer,
    name: str,
    weights: NDArray[np.float64] | None,
    positive_weights: NDArray[np.float64] | None,
) -> Callable[..., Any] | None:
    """Return the method that learns all targets at once from rows of these weights; None if there is none.

    Products of weights that single precision may not hold are rescaled, or refused, target by target.
    """
    method: Callable[..., Any] | None = getattr(inducer, name, None)
    if method is None or weights is None:
        return method
    if positive_weights is not None:
        products = np.outer([weights.min(), weights.max()], [1.0, *positive_weights])
        if not are_moderate(products):
            return None
    try:
        takes_weights = "weights" in inspect.signature(method).parameters
    except ValueError:  # a compiled function that does not say
        return None
    return partial(method, weights=weights) if takes_weights else None


def _one_by_one(
    inducer: Inducer,
    matrix: PreparedMatrix,
    targets: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    positive_weights: NDArray[np.float64] | None,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> list[RuleSet]:
    found = []
    for number, target in enumerate(targets):
        of_rows = weights
        if positive_weights is not None:
            of_rows = np.where(target, positive_weights[number], 1.0) * (1.0 if weights is None else weights)
        codes = (~target).astype(np.int32)
        found.append(inducer.induce(matrix, codes, BINARY_CLASSES, weights=of_rows, n_jobs=n_jobs))
        if progress is not None:
            progress(number + 1, len(targets))
    return found


def get_inducer(inducer: str | Inducer, **options: Any) -> Inducer:
    """Return the inducer named "c5.0", "cart" or "random_forest" with these options, or the object itself.

    Examples
    --------
    >>> from clausewise.induction import get_inducer
    >>> get_inducer("c5.0", min_cases=10)
    C50Inducer(min_cases=10, cf=0.25, winnow=False, global_pruning=True, subset=True, thresholds='readable')
    >>> get_inducer("cart", min_cases=0.05, max_leaves=8).max_leaves
    8
    """
    from clausewise.induction.c50 import C50Inducer
    from clausewise.induction.cart import CARTInducer
    from clausewise.induction.forest import RandomForestInducer

    known: dict[str, Callable[..., Inducer]] = {
        "c5.0": C50Inducer,
        "cart": CARTInducer,
        "random_forest": RandomForestInducer,
    }
    if isinstance(inducer, str):
        if inducer.lower() not in known:
            raise ValueError(f"inducer is {inducer!r}; expected {_listed(known)} or an object.")
        return known[inducer.lower()](**options)
    if not isinstance(inducer, Inducer):
        raise TypeError(
            f"A {type(inducer).__name__} is not an inducer; pass {_listed(known)} or an object with a method "
            "induce(matrix, codes, classes, *, weights, n_jobs)."
        )
    if options:
        raise ValueError(
            f"The options {_listed(options)} only apply to an inducer given by name; pass an object that has "
            "them set."
        )
    return inducer


def _checked(
    matrix: PreparedMatrix,
    targets: NDArray[np.bool_],
    positive_weights: NDArray[np.float64] | None,
    progress: ProgressCallback | None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
    targets = _checked_targets(targets, matrix)
    if positive_weights is not None:
        positive_weights = np.asarray(positive_weights, dtype=np.float64)
        is_usable = (positive_weights >= 1e-30) & (positive_weights <= 1e30)
        if positive_weights.shape != (len(targets),) or not is_usable.all():
            raise ValueError(
                f"positive_weights must be {len(targets)} numbers from 1e-30 to 1e30, one per target."
            )
    if progress is not None and not callable(progress):
        raise TypeError(
            f"progress is a {type(progress).__name__}; expected a function of two numbers or None."
        )
    return targets, positive_weights


def _checked_targets(targets: NDArray[np.bool_], matrix: PreparedMatrix) -> NDArray[np.bool_]:
    if not isinstance(matrix, PreparedMatrix):
        raise TypeError(f"matrix is a {type(matrix).__name__}; expected PreparedMatrix.prepare(X).")
    targets = np.ascontiguousarray(targets)
    if targets.dtype != bool or targets.ndim != 2 or targets.shape[1] != matrix.n_rows:
        raise ValueError(
            f"targets has shape {targets.shape} and dtype {targets.dtype}; expected booleans of shape "
            f"(n_targets, {matrix.n_rows})."
        )
    # An array viewed as booleans may contain bytes other than 0 and 1.
    return np.asarray(targets.view(np.uint8) != 0)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
