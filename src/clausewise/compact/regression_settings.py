"""The options of the search for rules that add numbers, and their constraints."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal

import numpy as np

from clausewise.base.parameters import FLAG, NOTHING, Constraint, check_parameters, number, one_of, whole
from clausewise.compact.linear_part import DEFAULT_COLUMNS
from clausewise.compact.losses import LOSSES, LossName
from clausewise.compact.regression_examples import RegressionExamples
from clausewise.compact.settings import (
    FEW_COLUMNS,
    FEW_ROWS,
    MAX_GENERATED_PER_ROW,
    N_GENERATED,
    PRICED_RULES,
    SEARCH,
)

# The penalty on squared additions, in standard deviations of the target: this fraction of the number of rows,
# within these bounds. Chosen on six tables of 300 to 8,400 rows (docs/regression.md).
_PENALTY_SHARE, _MIN_PENALTY, _MAX_PENALTY = 0.04, 8.0, 64.0
# The default price of a unit of reading cost, in the unit of `price_unit`: rules for numbers grow closer to
# the network with every rule, so a reader who asks for many wants them used.
_DEFAULT_PRICE = 0.3
# The default price under a budget of conditions: low, so that the budget is used.
_PRICE_OF_CONDITIONS = 0.01

REGRESSION_SEARCH: Final[Mapping[str, Constraint]] = {
    "loss": one_of(*LOSSES),
    "linear": FLAG | whole(0),
    "max_terms": SEARCH["max_terms"],
    "price": SEARCH["price"],
    "penalty": number(above=0) | NOTHING,
    "synthetic": SEARCH["synthetic"],
    "max_seconds": number(above=0) | NOTHING,
    "n_jobs": SEARCH["n_jobs"],
}


@dataclass(frozen=True)
class RegressionSettings:
    """Options of the search; see `RuleRegressor`."""

    loss: LossName = "squared"
    linear: bool | int = False
    max_terms: int = 6
    price: float | None = None
    penalty: float | None = None
    synthetic: float | Literal["auto"] = "auto"
    max_seconds: float | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_parameters(REGRESSION_SEARCH, asdict(self))

    @property
    def n_linear(self) -> int:
        """The most columns of the linear part."""
        return DEFAULT_COLUMNS if self.linear is True else int(self.linear)

    def using_up_conditions(self) -> "RegressionSettings":
        """Return these settings for a search that is to use up a budget of conditions."""
        return self if self.price is not None else replace(self, price=_PRICE_OF_CONDITIONS)

    def n_generated(self, examples: RegressionExamples) -> int:
        """Return the number of rows to generate near some examples."""
        generator, n_rows, n_columns = examples.generator, examples.n_rows, int(examples.table.shape[1])
        if generator is None:
            return 0
        if self.synthetic != "auto":
            return round(self.synthetic * n_rows)
        if generator.is_function or n_columns > FEW_COLUMNS or n_rows >= FEW_ROWS:
            return 0
        return min(N_GENERATED, MAX_GENERATED_PER_ROW * n_rows)

    def penalty_for(self, n_rows: int) -> float:
        """Return the penalty for this many rows."""
        if self.penalty is not None:
            return self.penalty
        return float(np.clip(_PENALTY_SHARE * n_rows, _MIN_PENALTY, _MAX_PENALTY))

    def price_for(self, n_rules: int) -> float:
        """Return the price; someone who asks for many rules is willing to read more."""
        return _DEFAULT_PRICE * min(1.0, PRICED_RULES / n_rules) if self.price is None else self.price
