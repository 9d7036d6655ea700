"""Rows that are held out before rules are learnt, so that a guarantee can be counted on them."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.analysis.guarantee import read_groups, refuse_weights
from clausewise.base.parameters import NOTHING, check_parameters, number
from clausewise.compact.settings import seed_of
from clausewise.data.rows import take_rows
from clausewise.extractors.regression_data import one_output
from clausewise.networks import Network
from clausewise.networks.answers import are_labels, model_rows, rows_to_learn_from
from clausewise.rules import RegressionRules, RuleSet

_HOLDOUT: Final = number(above=0, below=1)
_TOLERANCE: Final = number(least=0) | NOTHING


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A table divided at random into rows to learn from and held-out ones.

    The rows are drawn without regard to their classes: the exact bounds of a guarantee are those of counts in
    a simple random sample.

    Attributes
    ----------
    model, X : model, table
        The model, and the rows to learn from; of a model that is given by its labels, those of these rows.
    fresh_model, fresh_rows : model, table
        The same for the held-out rows.
    groups : ndarray, optional
        The groups of the held-out rows.
    learn : ndarray of int
        The positions of the rows to learn from.
    seed : int
        Draws one row of each group.
    """

    model: Any
    X: Any
    fresh_model: Any
    fresh_rows: Any
    groups: NDArray[np.intp] | None
    learn: NDArray[np.intp]
    seed: int

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        fraction: float,
        groups: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random_state: Any,
    ) -> "HeldOut":
        """Hold out a fraction of the rows, or of the groups."""
        check_parameters({"holdout": _HOLDOUT}, {"holdout": fraction})
        refuse_weights(sample_weight)
        rows, seed = rows_to_learn_from(model, X), seed_of(random_state)
        n_rows = rows.shape[0]
        given = None if groups is None else read_groups(groups, n_rows)
        is_held_out = draw_held_out(n_rows, given, fraction, np.random.RandomState(seed))
        learn, fresh = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
        models = [np.asarray(model)[part] if are_labels(model) else model for part in (learn, fresh)]
        return cls(
            models[0],
            take_rows(rows, learn),
            models[1],
            take_rows(rows, fresh),
            None if given is None else given[fresh],
            learn,
            seed,
        )

    def learnt(self, y: ArrayLike | None) -> Any:
        """Return the values of the rows to learn from, such as their true classes."""
        if y is None:
            return None
        return y.iloc[self.learn] if hasattr(y, "iloc") else take_rows(np.asarray(y), self.learn)

    def guaranteed(
        self,
        rules: RuleSet | RegressionRules,
        network: Network | None,
        tolerance: float | None,
        output: int | None = None,
    ) -> RuleSet | RegressionRules:
        """Return the rules with the guarantee that is counted on the held-out rows.

        `network` is what the rules were learnt from, which may have been trained; None if these were labels.
        Rules for numbers imitate one `output` of it.
        """
        judge = self.fresh_model if network is None else network
        return with_guarantee(
            rules, self.fresh_rows, judge, tolerance, groups=self.groups, output=output, seed=self.seed
        )


def with_guarantee(
    rules: RuleSet | RegressionRules,
    fresh_rows: Any,
    judge: Any,
    tolerance: float | None,
    *,
    groups: NDArray[np.intp] | None = None,
    output: int | None = None,
    seed: int = 0,
) -> RuleSet | RegressionRules:
    """Return the rules with the guarantee that is counted on rows that were held out.

    `judge` is the network that the rules were learnt from, or its answers on these rows. Rules for numbers
    need a `tolerance`, and imitate one `output` of the network.
    """
    # Held-out rows are independent of the others, also where they happen to be equal.
    options: dict[str, Any] = {"overlap": "keep", "groups": groups, "random_state": seed}
    if isinstance(rules, RuleSet):
        return rules.with_guarantee(rules.guarantee(fresh_rows, judge, **options))
    assert tolerance is not None  # as callers made sure, such as by `check_tolerance`
    if isinstance(judge, Network):
        judge = one_output(judge.numbers(model_rows(judge, fresh_rows, rules.features)), output)
    return rules.with_guarantee(rules.guarantee(fresh_rows, judge, tolerance, **options))


def check_tolerance(tolerance: float | None, *, for_numbers: bool) -> None:
    """Raise an error unless a tolerance is given exactly if rules for numbers are to be guaranteed."""
    check_parameters({"tolerance": _TOLERANCE}, {"tolerance": tolerance})
    if for_numbers and tolerance is None:
        raise ValueError(
            "These rules predict numbers, and a guarantee needs to know when two numbers agree; pass "
            "tolerance, the largest difference that counts as agreement."
        )
    if not for_numbers and tolerance is not None:
        raise ValueError("tolerance is for rules that predict numbers; these predict classes.")


def draw_held_out(
    n_rows: int, groups: NDArray[np.intp] | None, fraction: float, random: np.random.RandomState
) -> NDArray[np.bool_]:
    """Return which rows are held out; at least one is, and at least one is not."""
    unit_of_row = np.arange(n_rows) if groups is None else groups
    n_units = int(unit_of_row.max(initial=-1)) + 1
    if n_units < 2:
        what = "rows" if groups is None else "groups"
        raise ValueError(f"holdout needs at least 2 {what} in X; there are {n_units}.")
    n_held_out = min(max(1, round(fraction * n_units)), n_units - 1)
    is_held_out = np.zeros(n_units, dtype=bool)
    is_held_out[random.permutation(n_units)[:n_held_out]] = True
    return np.asarray(is_held_out[unit_of_row])
