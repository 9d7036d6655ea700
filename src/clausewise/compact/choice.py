"""Choices made on held-out rows: the fidelity of every budget, the recommended budget, and the penalty."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clausewise.base.progress import Progress
from clausewise.compact.examples import Balance, Examples
from clausewise.compact.frontier_curve import Frontier
from clausewise.compact.search import StageReport
from clausewise.compact.seeded_search import SeededSearch
from clausewise.compact.settings import DEFAULT_MAX_RULES, CompactionSettings, default_penalty
from clausewise.data.rows import random_splits
from clausewise.rules.ruleset import RuleSet

# The penalties that "cv" tries, as multiples of the default.
PENALTY_FACTORS = (0.25, 1.0, 4.0)
N_SPLITS, HELD_OUT = 3, 0.2


def measured_frontier(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    *,
    max_rules: int,
    n_splits: int,
    seed: int,
    progress: Progress,
) -> Frontier:
    """Measure fidelity on held-out rows for every budget; see `RuleSet.frontier`."""
    if len(examples.codes) < 10:
        raise ValueError(f"{len(examples.codes)} rows are too few to hold out some; pass at least 10.")
    if settings.penalty == "cv":
        penalty = chosen_penalty(rules, examples, settings, max_rules, seed, progress)
        settings = replace(settings, penalty=penalty)
    progress.started("Frontier", n_splits)
    by_split = np.empty((n_splits, max_rules))
    for number, (learn, held_out) in enumerate(_splits(examples, n_splits, seed)):
        with SearchProgress(progress, f"split {number + 1}") as report:
            found = SeededSearch(rules, learn, settings, report).rules_down_from(max_rules)
        for n_rules, small in found.items():
            by_split[number, n_rules - 1] = _fidelity(small, held_out, settings.balance)
    return Frontier(np.arange(1, max_rules + 1), by_split)


def _splits(examples: Examples, n_splits: int, seed: int) -> Iterator[tuple[Examples, Examples]]:
    """Yield rows to learn from and held-out rows."""
    for learn, held_out in random_splits(examples.codes, n_splits, HELD_OUT, seed):
        yield examples.take(learn), examples.take(held_out)


def _fidelity(rules: RuleSet, examples: Examples, balance: Balance) -> float:
    decided = rules.evaluator.decide(examples.table, "weights", rules.default_index)
    weights = examples.row_weights(balance)
    return float(weights @ (decided == examples.codes) / weights.sum())


def chosen_penalty(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    n_rules: int,
    seed: int,
    progress: Progress,
) -> float:
    """Return the penalty with the best fidelity on held-out rows if it clearly beats the default one.

    Clearly means by more than the standard error of the differences over the splits.
    """
    default = default_penalty(len(examples.codes))
    fidelity: dict[float, list[float]] = {factor: [] for factor in PENALTY_FACTORS}
    progress.started("Penalty", N_SPLITS * len(fidelity))
    for learn, held_out in _splits(examples, N_SPLITS, seed):
        for factor, measured in fidelity.items():
            tried = replace(settings, penalty=factor * default)
            with SearchProgress(progress, f"penalty {factor * default:g}") as report:
                found = SeededSearch(rules, learn, tried, report).rules_for(n_rules)
            measured.append(_fidelity(found, held_out, settings.balance))
    gains = {factor: np.subtract(measured, fidelity[1.0]) for factor, measured in fidelity.items()}
    best = max(gains, key=lambda factor: float(gains[factor].mean()))
    error = gains[best].std(ddof=1) / np.sqrt(N_SPLITS)
    return default * (best if gains[best].mean() > error else 1.0)


def chosen_budget(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    max_rules: int | None,
    min_fidelity: float | None,
    seed: int,
    progress: Progress,
) -> tuple[int, list[str]]:
    """Return the smallest budget that is faithful enough on held-out rows, and warnings for the user.

    Without `min_fidelity`, return the recommended budget.
    """
    found = measured_frontier(
        rules,
        examples,
        settings,
        max_rules=DEFAULT_MAX_RULES if max_rules is None else max_rules,
        n_splits=N_SPLITS,
        seed=seed,
        progress=progress,
    )
    if min_fidelity is None:
        return found.knee, []
    smallest = found.smallest(min_fidelity)
    if smallest is not None:
        return smallest, []
    best = int(found.fidelity.argmax())
    caveat = (
        f"No rule set of at most {found.budgets[-1]} rules reaches a fidelity of {min_fidelity:g} on "
        f"held-out rows; the best, with {found.budgets[best]} rules, has {found.fidelity[best]:.4f}. "
        "A larger max_rules or max_terms may help."
    )
    return int(found.budgets[best]), [caveat]


class SearchProgress:
    """Shows the stages of a search on a progress line."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name, self._stage = progress, name, ""

    def __enter__(self) -> StageReport:
        return self._report

    def __exit__(self, *_: object) -> None:
        self._progress.part_done()

    def _report(self, stage: str, n_done: int, n_total: int) -> None:
        if stage != self._stage:
            self._stage = stage
            self._progress.part_started(f"{self._name}: {stage}", n_total, "rules")
        self._progress.steps_done(0, n_done)
