"""The implementation of `RuleSet.compact` and `RuleSet.frontier`."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clausewise.base.parameters import check_parameters
from clausewise.base.progress import Progress
from clausewise.compact.choice import SearchProgress, chosen_budget, chosen_penalty, measured_frontier
from clausewise.compact.examples import Examples, examples_of
from clausewise.compact.frontier_curve import Frontier
from clausewise.compact.seeded_search import SeededSearch
from clausewise.compact.settings import BUDGET, CALL, DEFAULT_MAX_RULES, CompactionSettings, seed_of
from clausewise.compact.to_rules import constant_rules
from clausewise.rules.ruleset import RuleSet


class CompactionWarning(UserWarning):
    """The rules are valid, but the requested budget or fidelity could not be met as stated."""


def compact(
    rules: RuleSet,
    X: Any,
    target: Any,
    *,
    max_rules: int | None = None,
    min_fidelity: float | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    **options: Any,
) -> RuleSet:
    """Search for the most faithful small rule set; see `RuleSet.compact`."""
    settings = CompactionSettings(**options)
    check_parameters(
        {**BUDGET, **CALL},
        {
            "max_rules": max_rules,
            "min_fidelity": min_fidelity,
            "random_state": random_state,
            "verbose": verbose,
        },
    )
    examples = examples_of(rules, X, target, sample_weight)
    with Progress(verbose) as progress:
        found, caveats = compact_examples(
            rules,
            examples,
            settings,
            max_rules=max_rules,
            min_fidelity=min_fidelity,
            seed=seed_of(random_state),
            progress=progress,
        )
        progress.finished(f"Compact: {len(found):,} rules")
    for caveat in caveats:
        warnings.warn(caveat, CompactionWarning, stacklevel=3)  # the caller of `RuleSet.compact`
    return found


def frontier(
    rules: RuleSet,
    X: Any,
    target: Any,
    *,
    max_rules: int = DEFAULT_MAX_RULES,
    sample_weight: ArrayLike | None = None,
    n_splits: int = 3,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    **options: Any,
) -> Frontier:
    """Measure fidelity on held-out rows for every budget; see `RuleSet.frontier`."""
    settings = CompactionSettings(**options)
    check_parameters(
        {**CALL, "max_rules": BUDGET["max_rules"]},
        {
            "max_rules": max_rules,
            "n_splits": n_splits,
            "random_state": random_state,
            "verbose": verbose,
        },
    )
    examples = examples_of(rules, X, target, sample_weight)
    with Progress(verbose) as progress:
        found = measured_frontier(
            rules,
            examples,
            settings,
            max_rules=max_rules,
            n_splits=n_splits,
            seed=seed_of(random_state),
            progress=progress,
        )
        progress.finished(f"Frontier: {found.knee} rules recommended")
    return found


def compact_examples(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    *,
    max_rules: int | None,
    min_fidelity: float | None,
    seed: int,
    progress: Progress,
) -> tuple[RuleSet, list[str]]:
    """Return a small rule set, and warnings for the user; see `RuleSet.compact`."""
    if (examples.codes == examples.codes[0]).all():
        label = rules.labels[int(examples.codes[0])]
        caveat = f"The target is {label!s} on all rows; the rule set has no rules and always predicts it."
        return constant_rules(rules, examples), [caveat]
    caveats: list[str] = []
    if settings.penalty == "cv":
        most = DEFAULT_MAX_RULES if max_rules is None else max_rules
        settings = replace(settings, penalty=chosen_penalty(rules, examples, settings, most, seed, progress))
    n_rules = max_rules
    if n_rules is None or min_fidelity is not None:
        n_rules, caveats = chosen_budget(rules, examples, settings, max_rules, min_fidelity, seed, progress)
    progress.started("Compact", 1)
    with SearchProgress(progress, f"{n_rules} rules") as report:
        found = SeededSearch(rules, examples, settings, report).rules_for(n_rules)
    if len(found) == 0:
        caveats.append(
            "No rule helps to predict the target; the rule set is empty and always predicts one class."
        )
    return found, caveats
