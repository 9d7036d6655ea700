"""How rule sets are made small: the options of `RuleSet.compact`, checked."""

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

# A hundredth of the rows between these bounds. Chosen by cross-validation inside the training rows of nine
# tables of 100 to 16,000 rows: small tables want a weak penalty, larger ones hardly mind (docs/compact.md).
LEAST_PENALTY, MOST_PENALTY = 2.0, 16.0
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
    """How rule sets are made small; see `RuleSet.compact`."""

    max_terms: int = 6
    points: bool = False
    balance: Balance = None
    shared_premises: bool = False
    penalty: float | Literal["cv"] | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_parameters(SEARCH, asdict(self))


def usual_penalty(n_rows: int) -> float:
    """Return the penalty that is used unless one is given."""
    return float(np.clip(n_rows / 100, LEAST_PENALTY, MOST_PENALTY))


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that `random_state` stands for when rows are held out; None is 0."""
    return int(check_random_state(0 if random_state is None else random_state).randint(2**31))
