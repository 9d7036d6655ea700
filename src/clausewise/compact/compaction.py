"""The implementation of `RuleSet.compact` and `RuleSet.frontier`."""

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from clausewise.analysis.shortcomings import shortcomings
from clausewise.base.parameters import check_parameters
from clausewise.base.progress import Progress
from clausewise.compact.choice import (
    SearchProgress,
    chosen_penalty,
    faithful_budget,
    held_out_splits,
    measured_frontier,
    readable_size,
)
from clausewise.compact.examples import Examples, examples_of
from clausewise.compact.frontier_curve import Frontier, Size
from clausewise.compact.search import Budget
from clausewise.compact.seeded_search import SeededSearch
from clausewise.compact.settings import (
    BUDGET,
    CALL,
    DEFAULT_MAX_CONDITIONS,
    DEFAULT_MAX_RULES,
    CompactionSettings,
    seed_of,
)
from clausewise.compact.to_rules import constant_rules
from clausewise.partitions import PartitionedRows, is_partitioned, partitioned
from clausewise.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from clausewise.compact.all_rows import Learning

FEW_ROWS: Final = 2**17
"""Up to so many rows in partitions are read into memory, and learnt from as a table."""
# The largest reading cost to try per rule, where only a fidelity is asked for.
_MOST_PER_RULE = 4
# Number of generated rows to see whether the model can label them.
_N_TRIED = 16


class CompactionWarning(UserWarning):
    """The rules are valid, but miss the requested budget or fidelity, or fall short of the target."""


def compact(
    rules: RuleSet,
    X: Any,
    target: Any,
    *,
    max_rules: int | None = None,
    max_conditions: int | None = None,
    min_fidelity: float | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    **options: Any,
) -> RuleSet:
    """Search for the most faithful small rule set; see `RuleSet.compact`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.compact import compact
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> network = np.where((X[:, 0] > 6) & (X[:, 1] <= 4), "good", "bad")
    >>> rules = RuleSet.from_rules([], ["income", "debt"], default="bad", classes=["bad", "good"])
    >>> short = compact(rules, X, network, max_rules=1)  # as rules.compact(X, network, max_rules=1)
    >>> print(short)
    1 rule for the classes bad, good; voting weights (start with bad +2.91), otherwise bad
    0  IF income > 6.1 AND debt ≤ 4 THEN good   (confidence 0.98, covers 57, weight 4.16)
    """
    settings = CompactionSettings(**options)
    check_parameters(
        {**BUDGET, **CALL},
        {
            "max_rules": max_rules,
            "max_conditions": max_conditions,
            "min_fidelity": min_fidelity,
            "random_state": random_state,
            "verbose": verbose,
        },
    )
    rows, X, target = rows_to_learn_from(X, target, sample_weight)
    with Progress(verbose) as progress:
        learning = None if rows is None else _learning(rules, rows, target, progress)
        if learning is None:
            examples = examples_of(rules, X, target, sample_weight)
        else:
            examples = learning.examples_to_search(rules, learning.n_first)
        found = compact_examples(
            rules,
            examples,
            settings,
            max_rules=max_rules,
            max_conditions=max_conditions,
            min_fidelity=min_fidelity,
            seed=seed_of(random_state),
            progress=progress,
        )
        if learning is None:
            short = found.rules.having_learnt_from(examples.table, rules)
        else:
            short, examples = learning.completed(found, rules, progress), learning.held_out
        progress.finished(f"Compact: {len(short):,} rules, {short.reading_cost:,} to read")
    for caveat in (*found.caveats, *_shortcomings(short, examples, settings)):
        warnings.warn(caveat, CompactionWarning, stacklevel=3)  # the caller of `RuleSet.compact`
    return short


def frontier(
    rules: RuleSet,
    X: Any,
    target: Any,
    *,
    by: Size = "rules",
    max_rules: int = DEFAULT_MAX_RULES,
    max_conditions: int = DEFAULT_MAX_CONDITIONS,
    sample_weight: ArrayLike | None = None,
    n_splits: int = 3,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    **options: Any,
) -> Frontier:
    """Measure fidelity on held-out rows for every budget; see `RuleSet.frontier`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.compact import frontier
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> network = np.where((X[:, 0] > 6) & (X[:, 1] <= 4), "good", "bad")
    >>> rules = RuleSet.from_rules([], ["income", "debt"], default="bad", classes=["bad", "good"])
    >>> frontier(rules, X, network, max_rules=2).knee  # as rules.frontier(X, network, max_rules=2)
    1
    """
    settings = CompactionSettings(**options)
    check_parameters(
        {**CALL, "max_rules": BUDGET["max_rules"], "max_conditions": BUDGET["max_conditions"]},
        {
            "by": by,
            "max_rules": max_rules,
            "max_conditions": max_conditions,
            "n_splits": n_splits,
            "random_state": random_state,
            "verbose": verbose,
        },
    )
    rows, X, target = rows_to_learn_from(X, target, sample_weight)
    if rows is None:
        examples = examples_of(rules, X, target, sample_weight)
    else:
        with Progress(verbose) as progress:
            examples = _learning(rules, rows, target, progress).examples_to_search(rules, FEW_ROWS)
    limits = Budget(max_rules, max_conditions if by == "conditions" else math.inf)
    if by == "conditions":
        settings = settings.using_up_conditions()
    seed = seed_of(random_state)
    examples, caveats = _with_usable_generator(examples, settings, seed)
    for caveat in caveats:
        warnings.warn(caveat, CompactionWarning, stacklevel=3)  # the caller of `RuleSet.frontier`
    splits = held_out_splits(examples, n_splits, seed)
    with Progress(verbose) as progress:
        if settings.penalty == "cv":
            penalty = chosen_penalty(rules, examples, settings, limits, seed, progress)
            settings = replace(settings, penalty=penalty)
        found, _ = measured_frontier(
            rules, examples, settings, by=by, limits=limits, splits=splits, progress=progress
        )
        progress.finished(f"Frontier: max_{by}={found.knee} recommended")
    return found


def rows_to_learn_from(
    X: Any, target: Any, sample_weight: ArrayLike | None
) -> tuple[PartitionedRows | None, Any, Any]:
    """Return rows in partitions if there are many, and otherwise a table and its target."""
    if not is_partitioned(X):
        return None, X, target
    from clausewise.compact.all_rows import in_memory

    if sample_weight is not None:
        raise ValueError("sample_weight is for tables in memory; these rows are read in parts.")
    rows = partitioned(X)
    return (rows, X, target) if rows.n_rows > FEW_ROWS else (None, *in_memory(rows, target))


def _learning(rules: RuleSet, rows: PartitionedRows, target: Any, progress: Progress) -> "Learning":
    from clausewise.compact.all_rows import prepare_for

    return prepare_for(rules, rows, target, progress)


@dataclass(frozen=True)
class Compacted:
    """A small rule set, the sizes it was chosen from if it was, and warnings for the user.

    `limits` and `settings` are those of the search, with what was chosen; None if there was no search.
    """

    rules: RuleSet
    sizes: Frontier | None = None
    caveats: tuple[str, ...] = ()
    limits: Budget | None = None
    settings: CompactionSettings | None = None


def compact_examples(
    rules: RuleSet,
    examples: Examples,
    settings: CompactionSettings,
    *,
    max_rules: int | None,
    max_conditions: int | None,
    min_fidelity: float | None,
    seed: int,
    progress: Progress,
) -> Compacted:
    """Search for a small rule set; see `RuleSet.compact`."""
    if (examples.codes == examples.codes[0]).all():
        label = rules.labels[int(examples.codes[0])]
        caveat = f"The target is {label!s} on all rows; the rule set has no rules and always predicts it."
        return Compacted(constant_rules(rules, examples), caveats=(caveat,))
    examples, caveats = _with_usable_generator(examples, settings, seed)
    if max_rules is not None and not settings.shared_premises:
        caveats += _fewer_rules_than_classes(max_rules, len(np.unique(examples.codes)))
    sizes = None
    is_limited = max_rules is not None or max_conditions is not None
    limits = Budget(
        DEFAULT_MAX_RULES if max_rules is None else max_rules,
        math.inf if max_conditions is None else max_conditions,
    )
    if max_rules is None and max_conditions is not None:
        limits = replace(limits, n_rules=max_conditions)
    if max_conditions is not None or min_fidelity is not None:
        settings = settings.using_up_conditions()
    if settings.penalty == "cv":
        penalty = chosen_penalty(rules, examples, settings, limits, seed, progress)
        settings = replace(settings, penalty=penalty)
    if min_fidelity is not None:
        if max_conditions is None:
            limits = replace(limits, reading_cost=_MOST_PER_RULE * limits.n_rules)
        limits, sizes, missed = faithful_budget(
            rules, examples, settings, limits, min_fidelity, seed, progress
        )
        caveats += missed
    elif not is_limited:
        limits, settings, sizes = readable_size(rules, examples, settings, seed, progress)
    progress.started("Compact", 1)
    with SearchProgress(progress, "search") as report:
        found = SeededSearch(rules, examples, settings, report).rules_for(limits)
    if len(found) == 0:
        caveats.append(
            "No rule helps to predict the target; the rule set is empty and always predicts one class."
        )
    return Compacted(found, sizes, tuple(caveats), limits, settings)


def _fewer_rules_than_classes(max_rules: int, n_classes: int) -> list[str]:
    """Return a warning if the budget leaves classes without a rule, other than the default class."""
    if max_rules >= n_classes - 1:
        return []
    return [
        f"max_rules is {max_rules:,} and the target has {n_classes:,} classes, so that rules can predict "
        f"at most {max_rules + 1:,} of them, those with most to gain. Pass at least {n_classes - 1:,}, or "
        "call the method compact of rules with shared_premises=True: premises with a weight for every class."
    ]


def _with_usable_generator(
    examples: Examples, settings: CompactionSettings, seed: int
) -> tuple[Examples, list[str]]:
    """Return the examples with a generator that the model can answer, and warnings.

    A model may fail on rows that it has never seen. That is an error if generated rows were asked for.
    """
    if examples.generator is None and settings.synthetic not in ("auto", 0):
        raise ValueError(
            f"synthetic is {settings.synthetic:g}, but there are no rows that a model could label; pass a "
            "model instead of its labels, and a table or an array of numbers, or synthetic=0."
        )
    if settings.n_generated(examples) == 0 or examples.generator is None:
        return replace(examples, generator=None), []
    examples = replace(examples, generator=replace(examples.generator, seed=seed))
    try:
        examples.generated(_N_TRIED)
    except Exception as error:
        if settings.synthetic != "auto":
            raise
        caveat = (
            f"The model cannot label rows generated near yours ({type(error).__name__}: {error}), so the "
            "rules are learnt from your rows alone; synthetic=0 does not ask it."
        )
        return replace(examples, generator=None), [caveat]
    return examples, []


def _shortcomings(rules: RuleSet, examples: Examples, settings: CompactionSettings) -> tuple[str, ...]:
    """Return where the rules fall short on the rows that they were learnt from."""
    if len(rules) == 0:
        return ()  # which has a warning of its own
    return shortcomings(
        rules.evaluator.decide(examples.table, rules.voting, rules.default_index, settings.n_jobs),
        examples.codes,
        rules.labels,
        n_rules=len(rules),
        source="the target",
        weights=examples.weights,
        can_balance=True,
        is_balanced=settings.balance is not None,
    )
