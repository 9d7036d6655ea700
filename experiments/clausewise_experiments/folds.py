"""Split rows into those to learn from, to choose μ on, and to test on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from clausewise_experiments.data import TaskData
from clausewise_experiments.settings import N_FOLDS, FoldSettings

HELD_OUT_FRACTION = 0.2  # of the training rows


@dataclass(frozen=True, eq=False)
class Fold:
    """Positions of training and test rows; training rows are `kept` or `held_out` when μ is chosen."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    kept: NDArray[np.intp]
    held_out: NDArray[np.intp]


def fold_of(data: TaskData, settings: FoldSettings, number: int) -> Fold:
    """Return one of the five folds of the cross-validation."""
    if settings.kind == "published":
        if data.fold is None:
            raise ValueError("The task asks for published folds, but its file has no array 'fold'.")
        train, test = np.flatnonzero(data.fold != number), np.flatnonzero(data.fold == number)
    else:
        splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=settings.seed)
        train, test = list(splitter.split(data.X, data.y))[number]
    kept, held_out = train_test_split(
        train, test_size=HELD_OUT_FRACTION, stratify=data.y[train], random_state=settings.seed
    )
    return Fold(train, test, np.sort(kept), np.sort(held_out))


def sampled(data: TaskData, max_rows: int | None, seed: int) -> TaskData:
    """Draw at most `max_rows` rows, stratified by class, but enough of each class for five folds."""
    if max_rows is None or len(data.y) <= max_rows:
        return data
    random = np.random.default_rng(seed)
    least = 2 * N_FOLDS
    drawn = []
    for code, count in enumerate(np.bincount(data.y)):
        wanted = min(count, max(least, round(count * max_rows / len(data.y))))
        drawn.append(random.choice(np.flatnonzero(data.y == code), wanted, replace=False))
    return data.take(np.sort(np.concatenate(drawn)))
