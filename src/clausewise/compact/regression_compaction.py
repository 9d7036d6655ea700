"""Few rules that add numbers, within a budget or of a chosen size."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.parameters import Constraint, check_parameters
from clausewise.base.progress import Progress
from clausewise.compact.choice import SearchProgress
from clausewise.compact.compaction import FEW_ROWS, CompactionWarning, rows_to_learn_from
from clausewise.compact.frontier_curve import Frontier, Size
from clausewise.compact.regression_choice import held_out_splits, measured_frontier, readable_size
from clausewise.compact.regression_examples import RegressionExamples
from clausewise.compact.regression_search import RegressionSearch
from clausewise.compact.regression_settings import RegressionSettings
from clausewise.compact.row_generator import answered_by
from clausewise.compact.search import Budget
from clausewise.compact.settings import BUDGET, CALL, DEFAULT_MAX_RULES, seed_of
from clausewise.data.features import Features
from clausewise.data.responses import read_responses
from clausewise.data.weights import read_weights
from clausewise.networks.answers import are_labels, model_rows, number_model, one_number
from clausewise.partitions import PartitionedRows
from clausewise.rules.regression import RegressionRules
from clausewise.rules.stored import StoredRules

if TYPE_CHECKING:
    from clausewise.compact.all_rows_of_numbers import NumberLearning

CALLED: Final[Mapping[str, Constraint]] = {**BUDGET, **CALL}
# Number of generated rows to see whether the model can answer them.
_N_TRIED = 16


@dataclass(frozen=True)
class AddingRules:
    """Rules that add numbers, the sizes they were chosen from if they were, and warnings for the user.

    `limits` and `settings` are those of the search, with what was chosen.
    """

    rules: RegressionRules
    sizes: Frontier | None
    caveats: tuple[str, ...]
    limits: Budget
    settings: RegressionSettings


def compact_numbers(
    rules: RegressionRules,
    X: Any,
    target: Any,
    *,
    max_rules: int | None = None,
    max_conditions: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    **options: Any,
) -> RegressionRules:
    """Search for few rules that predict the target best; see `RegressionRules.compact`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RegressionRules
    >>> from clausewise.compact import compact_numbers
    >>> X = np.random.default_rng(0).uniform(1, 8, (300, 1))
    >>> prices = np.where(X[:, 0] > 4, 2.2, 1.5)
    >>> rules = RegressionRules.from_rules([], ["rooms"])
    >>> short = compact_numbers(rules, X, prices, max_rules=1)  # as rules.compact(X, prices, max_rules=1)
    >>> short.predict([[3], [5]]).round(1).tolist()
    [1.6, 2.2]
    """
    settings = RegressionSettings(**_with_loss_of(rules, options))
    check_parameters(
        CALLED,
        {
            "max_rules": max_rules,
            "max_conditions": max_conditions,
            "random_state": random_state,
            "verbose": verbose,
        },
    )
    rows, X, target = rows_to_learn_from(X, target, sample_weight)
    with Progress(verbose) as progress:
        learning = None if rows is None else _learning(rules, rows, target, progress)
        if learning is None:
            examples = examples_of_numbers(rules, X, target, sample_weight, settings)
        else:
            examples = learning.examples_of_about(learning.n_first).for_loss(settings.loss)
        found = adding_rules(
            rules.features,
            examples,
            settings,
            seeds=rules,
            max_rules=max_rules,
            max_conditions=max_conditions,
            seed=seed_of(random_state),
            progress=progress,
        )
        if learning is None:
            short = found.rules.having_learnt_from(examples.table, rules)
        else:
            short, _, _ = learning.completed(found, progress, rules)
        progress.finished(f"Compact: {len(short):,} rules, {short.reading_cost:,} to read")
    for caveat in found.caveats:
        warnings.warn(caveat, CompactionWarning, stacklevel=3)  # the caller of `RegressionRules.compact`
    return short.with_response(rules.response)


def _learning(
    rules: RegressionRules, rows: PartitionedRows, target: Any, progress: Progress
) -> "NumberLearning":
    from clausewise.compact.all_rows_of_numbers import prepare_numbers_for

    return prepare_numbers_for(rules, rows, target, progress)


def frontier_numbers(
    rules: RegressionRules,
    X: Any,
    target: Any,
    *,
    by: Size,
    max_rules: int,
    max_conditions: int,
    sample_weight: ArrayLike | None,
    n_splits: int,
    random_state: int | np.random.RandomState | None,
    verbose: int,
    **options: Any,
) -> Frontier:
    """Measure what rules explain on held-out rows for every budget; see `RegressionRules.frontier`.

    Examples
    --------
    `RegressionRules.frontier` calls it, with defaults:

    >>> import numpy as np
    >>> from clausewise import RegressionRules
    >>> X = np.random.default_rng(0).uniform(1, 8, (300, 1))
    >>> prices = np.where(X[:, 0] > 4, 2.2, 1.5)
    >>> curve = RegressionRules.from_rules([], ["rooms"]).frontier(X, prices, by="rules", max_rules=2)
    >>> curve.measure, curve.knee
    ('R²', 1)
    """
    settings = RegressionSettings(**_with_loss_of(rules, options))
    check_parameters(CALLED, {"random_state": random_state, "verbose": verbose})
    rows, X, target = rows_to_learn_from(X, target, sample_weight)
    with Progress(verbose) as progress:
        if rows is None:
            examples = examples_of_numbers(rules, X, target, sample_weight, settings)
        else:
            sampled = _learning(rules, rows, target, progress).examples_of_about(FEW_ROWS)
            examples = sampled.for_loss(settings.loss)
        return frontier_of_numbers(
            rules.features,
            examples,
            settings,
            seeds=rules,
            by=by,
            max_rules=max_rules,
            max_conditions=max_conditions,
            n_splits=n_splits,
            seed=seed_of(random_state),
            progress=progress,
        )


def _with_loss_of(rules: RegressionRules, options: dict[str, Any]) -> dict[str, Any]:
    """Return options with a loss: unless one is given, that which goes with the link of the rules."""
    given = {name: value for name, value in options.items() if name != "loss" or value is not None}
    return {"loss": "poisson" if rules.link == "log" else "squared"} | given


def examples_of_numbers(
    rules: RegressionRules,
    X: Any,
    target: Any,
    sample_weight: ArrayLike | None,
    settings: RegressionSettings,
) -> RegressionExamples:
    """Read rows and a target: one number per row, or a model."""
    features = rules.features
    table = features.encode(X)
    if len(table) == 0:
        raise ValueError("X has no rows; pass at least one to learn from.")
    generator = None
    if are_labels(target):
        numbers = read_responses(target, len(table), "target")
    else:
        network = number_model(target)

        def ask(rows: Any) -> NDArray[np.float64]:
            return one_number(network.numbers(rows), "target")

        numbers = ask(model_rows(network, X, features))
        generator = answered_by(ask, network, X, table, features)
    weights = read_weights(sample_weight, len(table))
    examples = RegressionExamples(table, numbers, weights, generator)
    if weights is not None:
        examples = examples.take(np.flatnonzero(weights > 0))
    return examples.for_loss(settings.loss)


def adding_rules(
    features: Features,
    examples: RegressionExamples,
    settings: RegressionSettings,
    *,
    seeds: StoredRules[Any] | None,
    max_rules: int | None,
    max_conditions: int | None,
    seed: int,
    progress: Progress,
) -> AddingRules:
    """Search for rules that predict the targets best within a budget; without one, choose a readable size."""
    examples, caveats = with_usable_generator(examples, settings, seed)
    sizes = None
    limits = Budget(
        (max_conditions or DEFAULT_MAX_RULES) if max_rules is None else max_rules,
        math.inf if max_conditions is None else max_conditions,
    )
    if max_conditions is not None:
        settings = settings.using_up_conditions()
    elif max_rules is None:
        limits, settings, sizes = readable_size(features, examples, settings, seeds, seed, progress)
        if settings.max_seconds is not None:  # the other half was for the choice
            settings = replace(settings, max_seconds=settings.max_seconds / 2)
    progress.started("Rules", 1)
    with SearchProgress(progress, "search") as report:
        search = RegressionSearch(features, examples, settings, report, seeds)
        rules = search.rules_for(limits)
    if search.is_constant:
        caveats.append(f"The target is {examples.target[0]:g} on all rows; there are no rules.")
    elif search.is_cut_short:
        caveats.append("The search was stopped when max_seconds had passed; more time may find better rules.")
    elif len(rules) == 0 and not rules.linear:
        caveats.append("No rule helps to predict the target; the prediction is the same for all rows.")
    return AddingRules(rules, sizes, tuple(caveats), limits, settings)


def frontier_of_numbers(
    features: Features,
    examples: RegressionExamples,
    settings: RegressionSettings,
    *,
    seeds: StoredRules[Any] | None,
    by: Size,
    max_rules: int,
    max_conditions: int,
    n_splits: int,
    seed: int,
    progress: Progress,
) -> Frontier:
    """Measure what rules explain on held-out rows for every budget; see `RuleRegressor.frontier`."""
    check_parameters(
        {name: CALLED[name] for name in ("by", "max_rules", "max_conditions", "n_splits")},
        {"by": by, "max_rules": max_rules, "max_conditions": max_conditions, "n_splits": n_splits},
    )
    examples, caveats = with_usable_generator(examples, settings, seed)
    for caveat in caveats:
        warnings.warn(caveat, CompactionWarning, stacklevel=3)
    if by == "conditions":
        settings = settings.using_up_conditions()
    found, _ = measured_frontier(
        features,
        examples,
        settings,
        seeds=seeds,
        by=by,
        limits=Budget(max_rules, max_conditions if by == "conditions" else math.inf),
        splits=held_out_splits(examples, n_splits, seed),
        progress=progress,
    )
    progress.finished(f"Frontier: max_{by}={found.knee} recommended")
    return found


def with_usable_generator(
    examples: RegressionExamples, settings: RegressionSettings, seed: int
) -> tuple[RegressionExamples, list[str]]:
    """Return the examples with a generator that the model can answer, and warnings.

    A model may fail on rows that it has never seen. That is an error if generated rows were asked for.
    """
    if examples.generator is None and settings.synthetic not in ("auto", 0):
        raise ValueError(
            f"synthetic is {settings.synthetic:g}, but there are no rows that a model could answer; pass a "
            "model instead of its numbers, and a table or an array of numbers, or synthetic=0."
        )
    if settings.n_generated(examples) == 0 or examples.generator is None:
        return replace(examples, generator=None), []
    examples = replace(examples, generator=replace(examples.generator, seed=seed))
    try:
        examples.with_generated(_N_TRIED)
    except Exception as error:
        if settings.synthetic != "auto":
            raise
        caveat = (
            f"The model cannot answer rows generated near yours ({type(error).__name__}: {error}), so the "
            "rules are learnt from your rows alone; synthetic=0 does not ask it."
        )
        return replace(examples, generator=None), [caveat]
    return examples, []
