"""What a rule inducer is, and how one is run on many targets."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clausewise.induction.matrix import PreparedMatrix
from clausewise.rules import RuleSet
from clausewise.rules.rule import Label

Progress = Callable[[int, int], None]

# The reference declares the classes of a clause's target in this order, which decides C5.0's ties.
BINARY_CLASSES: tuple[bool, bool] = (True, False)


@runtime_checkable
class Inducer(Protocol):
    """The paper's ψ: learns rules that tell the classes of rows apart.

    Any object with this method can be passed wherever an inducer is asked for. An inducer that also has
    `induce_many(matrix, targets, *, positive_weights, n_jobs, progress)` is given all targets at once.
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
        """Rules over the matrix's features.

        Parameters
        ----------
        matrix : PreparedMatrix
            The training rows.
        codes : ndarray of shape (n_rows,)
            Class of each row, as a position in `classes`.
        classes : sequence
            The class labels in declared order, which may decide ties; some may have no row.
        weights : ndarray of shape (n_rows,), optional
            Positive case weights.
        n_jobs : int, optional
            Number of threads; must not change the result.

        Returns
        -------
        RuleSet
            Rules with cover, correct and confidence on the training rows, over these classes and the matrix's
            features, and the default class.
        """
        ...


def induce_many(
    inducer: Inducer,
    matrix: PreparedMatrix,
    targets: NDArray[np.bool_],
    *,
    positive_weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[RuleSet]:
    """One rule set per row of `targets`, over the classes True and False.

    Parameters
    ----------
    inducer : Inducer
        What learns the rules.
    matrix : PreparedMatrix
        The rows, shared by all fits.
    targets : ndarray of bool, of shape (n_targets, n_rows)
        What the rules of each set must tell apart.
    positive_weights : ndarray of shape (n_targets,), optional
        How much a True row of each target weighs against a False one, against imbalance.
    n_jobs : int, optional
        Number of threads; all usable cores unless given. It does not change any result.
    progress : callable, optional
        Called now and then with the number of finished targets and of all targets.
    """
    targets = _checked_targets(targets, matrix)
    if positive_weights is not None:
        positive_weights = np.asarray(positive_weights, dtype=np.float64)
        is_usable = (positive_weights >= 1e-30) & (positive_weights <= 1e30)
        if positive_weights.shape != (len(targets),) or not is_usable.all():
            raise ValueError(
                f"positive_weights must be {len(targets)} positive numbers (1e-30 to 1e30), one per target."
            )
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is a {type(progress).__name__}; pass a function of two numbers, or None.")
    at_once = getattr(inducer, "induce_many", None)
    if at_once is not None:
        return cast(
            "list[RuleSet]",
            at_once(matrix, targets, positive_weights=positive_weights, n_jobs=n_jobs, progress=progress),
        )
    found = []
    for number, target in enumerate(targets):
        weights = None if positive_weights is None else np.where(target, positive_weights[number], 1.0)
        codes = (~target).astype(np.int32)
        found.append(inducer.induce(matrix, codes, BINARY_CLASSES, weights=weights, n_jobs=n_jobs))
        if progress is not None:
            progress(number + 1, len(targets))
    return found


def get_inducer(inducer: str | Inducer, **options: Any) -> Inducer:
    """The inducer called "c5.0", "cart" or "random_forest" with these options, or the object itself."""
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
            raise ValueError(
                f"There is no inducer {inducer!r}; there are {_listed(known)}, or pass an object."
            )
        return known[inducer.lower()](**options)
    if not isinstance(inducer, Inducer):
        raise TypeError(
            f"{type(inducer).__name__} is no inducer; pass {_listed(known)}, or an object with a method "
            "induce(matrix, codes, classes, *, weights, n_jobs)."
        )
    if options:
        raise ValueError(f"The options {_listed(options)} only go with an inducer given by its name.")
    return inducer


def _checked_targets(targets: NDArray[np.bool_], matrix: PreparedMatrix) -> NDArray[np.bool_]:
    if not isinstance(matrix, PreparedMatrix):
        raise TypeError(f"matrix is a {type(matrix).__name__}; pass PreparedMatrix.prepare(X).")
    targets = np.ascontiguousarray(targets)
    if targets.dtype != bool or targets.ndim != 2 or targets.shape[1] != matrix.n_rows:
        raise ValueError(
            f"targets has shape {targets.shape} and dtype {targets.dtype}; booleans of shape "
            f"(n_targets, {matrix.n_rows}) are needed."
        )
    # A view of other bytes as booleans may hold more than 0 and 1.
    return np.asarray(targets.view(np.uint8) != 0)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
