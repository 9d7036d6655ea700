"""The options of `RuleSet.compact` and `RuleSet.frontier`, and their constraints."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal

import numpy as np
from sklearn.utils import check_random_state

from clausewise.base.parameters import (
    FLAG,
    JOBS,
    NOTHING,
    RANDOM_STATE,
    VERBOSE,
    Constraint,
    check_parameters,
    number,
    one_of,
    whole,
)
from clausewise.compact.examples import Balance

# The default penalty is a hundredth of the number of rows, within these bounds. Chosen by cross-validation on
# the training rows of nine tables of 100 to 16,000 rows: small tables need a weak penalty, larger ones are
# hardly sensitive to it (docs/compact.md).
MIN_PENALTY, MAX_PENALTY = 2.0, 16.0
DEFAULT_MAX_RULES = 64

BUDGET: Final[Mapping[str, Constraint]] = {
    "max_rules": whole(1) | NOTHING,
    "min_fidelity": number(above=0, most=1) | NOTHING,
}
SEARCH: Final[Mapping[str, Constraint]] = {
    "max_terms": whole(1),
    "points": FLAG,
    "balance": one_of(None, "balanced"),
    "shared_premises": FLAG,
    "penalty": number(above=0) | one_of("cv") | NOTHING,
    "n_jobs": JOBS,
}
CALL: Final[Mapping[str, Constraint]] = {
    "n_splits": whole(1),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}


@dataclass(frozen=True)
class CompactionSettings:
    """Options of the search; see `RuleSet.compact`."""

    max_terms: int = 6
    points: bool = False
    balance: Balance = None
    shared_premises: bool = False
    penalty: float | Literal["cv"] | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_parameters(SEARCH, asdict(self))


def default_penalty(n_rows: int) -> float:
    """Return the default penalty."""
    return float(np.clip(n_rows / 100, MIN_PENALTY, MAX_PENALTY))


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed for drawing held-out rows; `random_state=None` means 0."""
    return int(check_random_state(0 if random_state is None else random_state).randint(2**31))
