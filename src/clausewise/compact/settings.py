"""The options of `RuleSet.compact` and `RuleSet.frontier`, and their constraints."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
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
from clausewise.compact.examples import Balance, Examples
from clausewise.compact.search import MIN_COST

# The default penalty is a hundredth of the number of rows, within these bounds. Chosen by cross-validation on
# the training rows of nine tables of 100 to 16,000 rows: small tables need a weak penalty, larger ones are
# hardly sensitive to it (docs/compact.md).
MIN_PENALTY, MAX_PENALTY = 2.0, 16.0
# With more than two classes, each has fewer rows; the penalty falls in proportion, down to this fraction.
LEAST_PENALTY_SHARE = 0.25
# The price of a unit of reading cost: by how much it must lower the loss, in units of √rows / PRICE_SCALE.
# The default holds for up to so many rules per two classes. Chosen on seven tables with 700 to 8,400 rows,
# where it halves what has to be read and costs about a tenth of a point of fidelity (docs/compact.md).
DEFAULT_PRICE, PRICED_RULES, PRICE_SCALE = 1.0, 16, 40.0
PRICE_OF_MANY = 0.25  # for twice to four times as many rules
# The default price under a budget of conditions: low, so that the budget is used.
PRICE_OF_CONDITIONS = 0.1
DEFAULT_MAX_RULES, DEFAULT_MAX_CONDITIONS = 64, 128
MIN_CONDITIONS = MIN_COST

# "auto" generates so many rows, but at most so many per row, none for wide tables, where they take long, and
# none where there is no lack of rows.
# Chosen on ten tables with 300 to 8,400 rows (docs/compact.md).
N_GENERATED, MAX_GENERATED_PER_ROW = 16_000, 20
# Larger and wider tables are searched without generated rows, which then only serve the last stage.
FEW_ROWS, FEW_COLUMNS = 4_000, 200
# Of so many rows, about this many are searched first; what is found is then improved on all rows. Rows of a
# rare class are kept, up to so many.
MANY_TO_SEARCH, N_SEARCHED_FIRST, MIN_OF_CLASS = 2**16, 2**15, 1_000
# The last stage needs so many rows, real and generated; with fewer it learns errors by heart.
MANY_ROWS = 5_000

BUDGET: Final[Mapping[str, Constraint]] = {
    "max_rules": whole(1) | NOTHING,
    "max_conditions": whole(MIN_CONDITIONS) | NOTHING,
    "min_fidelity": number(above=0, most=1) | NOTHING,
}
SEARCH: Final[Mapping[str, Constraint]] = {
    "max_terms": whole(1),
    "price": number(least=0) | NOTHING,
    "points": FLAG,
    "balance": one_of(None, "balanced"),
    "shared_premises": FLAG,
    "penalty": number(above=0) | one_of("cv") | NOTHING,
    "synthetic": number(least=0) | one_of("auto"),
    "n_jobs": JOBS,
}
CALL: Final[Mapping[str, Constraint]] = {
    "by": one_of("rules", "conditions"),
    "n_splits": whole(1),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}


@dataclass(frozen=True)
class CompactionSettings:
    """Options of the search; see `RuleSet.compact`."""

    max_terms: int = 6
    price: float | None = None
    points: bool = False
    balance: Balance = None
    shared_premises: bool = False
    penalty: float | Literal["cv"] | None = None
    synthetic: float | Literal["auto"] = "auto"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_parameters(SEARCH, asdict(self))

    def n_generated(self, examples: Examples) -> int:
        """Return the number of rows to generate near some examples."""
        generator, n_rows = examples.generator, len(examples.codes)
        if generator is None:
            return 0
        if self.synthetic != "auto":
            return round(self.synthetic * n_rows)
        if generator.is_function or examples.table.shape[1] > FEW_COLUMNS or n_rows >= MANY_TO_SEARCH:
            return 0
        return min(N_GENERATED, MAX_GENERATED_PER_ROW * n_rows)

    def n_searched(self, examples: Examples) -> int:
        """Return the number of rows to search, real and generated."""
        return len(examples.codes) + (self.n_generated(examples) if searches_generated(examples) else 0)

    def price_per_row(self, examples: Examples) -> float:
        """Return the unit of prices, per row that is searched."""
        n_rows, n_searched = len(examples.codes), self.n_searched(examples)
        return price_unit(n_rows, n_searched - n_rows) / n_searched

    def using_up_conditions(self) -> "CompactionSettings":
        """Return these settings for a search that is to use up a budget of conditions."""
        return self if self.price is not None else replace(self, price=PRICE_OF_CONDITIONS)


def default_penalty(n_rows: int, n_classes: int) -> float:
    """Return the default penalty."""
    share = max(2 / max(n_classes, 2), LEAST_PENALTY_SHARE)
    return float(np.clip(share * n_rows / 100, MIN_PENALTY, share * MAX_PENALTY))


def default_price(n_rules: int, n_classes: int) -> float:
    """Return the default price; someone who asks for many rules is willing to read more.

    It falls with the square of their number to a quarter for 32 rules, which holds up to 64, and then in
    proportion to their number.
    """
    share = min(1.0, PRICED_RULES * n_classes / 2 / n_rules)
    return DEFAULT_PRICE * min(share, max(share**2, PRICE_OF_MANY))


def price_unit(n_rows: int, n_generated: int = 0) -> float:
    """Return the unit of prices.

    Generated rows count less than real ones: with them, rules are to cost about as much to read as without.
    """
    n_all = n_rows + n_generated
    return float(math.sqrt(n_all) * (n_all / n_rows) ** 0.25 / PRICE_SCALE)


def searches_generated(examples: Examples) -> bool:
    """Return whether generated rows serve the whole search, not only its last stage."""
    n_rows, n_columns = examples.table.shape
    return bool(n_rows < FEW_ROWS and n_columns <= FEW_COLUMNS)


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed for drawing held-out rows; `random_state=None` means 0."""
    return int(check_random_state(0 if random_state is None else random_state).randint(2**31))
