"""Rule sets under a budget: from rows and labels to a small rule set with fitted weights."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state

from clausewise import _threads
from clausewise._progress import Progress
from clausewise.compact.bins import Bins
from clausewise.compact.build import constant_rules, rule_set_of
from clausewise.compact.examples import Balance, Examples
from clausewise.compact.frontier import Frontier
from clausewise.compact.model import Member, Model
from clausewise.compact.points import calibrated, with_points
from clausewise.compact.search import Options, Search
from clausewise.compact.shared import SharedSearch
from clausewise.rules.columns import RuleColumns
from clausewise.rules.display import describe_premise
from clausewise.rules.rule import Origin
from clausewise.rules.ruleset import RuleSet

Report = Callable[[str, int, int], None]

# A hundredth of the rows between these bounds. Chosen by cross-validation inside the training rows of nine
# tables of 100 to 16,000 rows: small tables want a weak penalty, larger ones hardly mind (docs/compact.md).
LEAST_PENALTY, MOST_PENALTY = 2.0, 16.0
# What "cv" tries, as multiples of that.
PENALTY_FACTORS = (0.25, 1.0, 4.0)
DEFAULT_MAX_RULES = 64
N_SPLITS, HELD_BACK = 3, 0.2
# On smaller tables the parts of a search are too short to be worth a thread each.
_MANY_CELLS = 2**19
# On the way down a frontier exchanges rules each time their number has fallen to this part.
_EXCHANGE_AT = 0.7


class CompactionWarning(UserWarning):
    """The rules are valid, but the budget or the fidelity asked for could not be met as stated."""


@dataclass(frozen=True)
class Settings:
    """How rule sets are made small; see `RuleSet.compact`."""

    max_terms: int = 6
    points: bool = False
    balance: Balance = None
    shared_premises: bool = False
    penalty: float | Literal["cv"] | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        _threads.resolve(self.n_jobs)  # raises for what is no number of threads
        if not _is_count(self.max_terms):
            raise ValueError(f"max_terms is {self.max_terms!r}; a rule has at least one term.")
        if not isinstance(self.points, bool | np.bool_):
            raise ValueError(f"points is {self.points!r}; expected True or False.")
        if self.balance not in (None, "balanced"):
            raise ValueError(f"balance is {self.balance!r}; expected None or 'balanced'.")
        if isinstance(self.penalty, str):
            if self.penalty != "cv":
                raise ValueError(f"penalty is {self.penalty!r}; expected a positive number or 'cv'.")
        elif self.penalty is not None and not 0 < self.penalty < np.inf:
            raise ValueError(f"penalty is {self.penalty!r}; it must be a positive, finite number.")


class Compaction:
    """The search on some rows, seeded by the rules of a rule set.

    Parameters
    ----------
    rules : RuleSet
        Premises to start from, classes and features.
    examples : Examples
        Rows to learn from.
    settings : Settings
        How.
    report : callable
        Called with a stage, the steps done and their number.
    """

    def __init__(
        self,
        rules: RuleSet,
        examples: Examples,
        settings: Settings,
        report: Report,
    ) -> None:
        self._rules, self._examples, self._settings = rules, examples, settings
        self._row_weight = examples.row_weights(settings.balance)
        self._bins = Bins.learn(examples.table, rules.features)
        # Classes that no row has are left out; no rule may conclude them.
        self._present, codes = np.unique(examples.codes, return_inverse=True)
        n_present = len(self._present)
        assert not isinstance(settings.penalty, str)  # chosen by now
        penalty = usual_penalty(len(codes)) if settings.penalty is None else settings.penalty
        model = Model(codes.astype(np.int32), n_present, self._row_weight, penalty)
        options = Options(
            max_terms=min(settings.max_terms, len(rules.features)),
            min_rows=max(5, len(examples.codes) // 1000),
            n_threads=_threads.resolve(settings.n_jobs) if examples.table.size >= _MANY_CELLS else 1,
        )
        is_shared = settings.shared_premises and n_present > 2
        kind = SharedSearch if is_shared else Search
        self._search = kind(self._bins, model, self._seeds(), options, report)

    def rules_for(self, n_rules: int) -> RuleSet:
        """The best rule set that is found with this many rules."""
        if self._is_constant:
            return constant_rules(self._rules, self._examples)
        self._search.compact(n_rules)
        return self._built()

    def rules_down_from(self, n_rules: int) -> dict[int, RuleSet]:
        """Rule sets of every size down from this one, from one search; they decide, and are not measured."""
        if self._is_constant:
            return dict.fromkeys(range(1, n_rules + 1), self.rules_for(n_rules))
        search = self._search
        search.grow(search.overgrown(n_rules))
        found: dict[int, RuleSet] = {}
        next_exchange: float = n_rules
        for n_left in range(n_rules, 0, -1):
            if found and search.n_rules <= n_left:
                found[n_left] = found[n_left + 1]  # so few rules were all that helped
                continue
            search.prune(n_left)
            if n_left <= next_exchange:
                search.exchange(1)
                next_exchange = _EXCHANGE_AT * n_left
            found[n_left] = self._deciding()
        return found

    @property
    def _is_constant(self) -> bool:
        return len(self._present) == 1

    def _seeds(self) -> list[Member]:
        rules = self._rules.distinct()
        boxes = self._bins.boxes_of(rules)
        rows = self._bins.covered(boxes)
        seen = set()
        seeds = []
        for number, box in enumerate(boxes):
            if box and box not in seen:
                seen.add(box)
                seeds.append(Member(box, rows[number], _origin(rules.columns, number, rules)))
        return seeds

    def _deciding(self) -> RuleSet:
        """The model as a rule set, the most important rules first."""
        examples = self._examples
        rules = rule_set_of(self._search.model.blocks, self._rules, self._present, self._bins)
        if not self._settings.points:
            return rules
        return with_points(rules, examples.table, examples.target_probabilities, self._row_weight)

    def _built(self) -> RuleSet:
        """The same with calibrated probabilities, and what the rules cover and get right."""
        examples, rules = self._examples, self._deciding()
        table, codes = examples.table, examples.codes.astype(np.int64)
        if examples.probabilities is not None and not self._settings.points:
            rules = calibrated(rules, table, examples.probabilities, self._row_weight)
        return rules.with_counts(*rules.evaluator.statistics(table, codes, examples.weights))


def _origin(columns: RuleColumns, number: int, rules: RuleSet) -> Origin:
    """Where a seed comes from; a rule without an origin is one itself."""
    origin = columns.origins[number]
    return origin if origin is not None else Origin("rule", describe_premise(columns, number, rules.features))


# --- What users call ---


def compact(
    rules: RuleSet,
    examples: Examples,
    settings: Settings,
    *,
    max_rules: int | None,
    min_fidelity: float | None,
    seed: int,
    progress: Progress,
) -> tuple[RuleSet, list[str]]:
    """The rules, made few, and what the user should be warned about; see `RuleSet.compact`."""
    check_budget(max_rules, min_fidelity)
    if (examples.codes == examples.codes[0]).all():
        label = rules.labels[int(examples.codes[0])]
        caveat = f"The target is {label!s} on all rows; the rule set has no rules and says so."
        return constant_rules(rules, examples), [caveat]
    caveats: list[str] = []
    if settings.penalty == "cv":
        most = DEFAULT_MAX_RULES if max_rules is None else max_rules
        settings = replace(settings, penalty=_chosen_penalty(rules, examples, settings, most, seed, progress))
    n_rules = None if max_rules is None else int(max_rules)
    if n_rules is None or min_fidelity is not None:
        n_rules, caveats = _chosen_budget(rules, examples, settings, max_rules, min_fidelity, seed, progress)
    progress.started("Compact", 1)
    with _Watch(progress, f"{n_rules} rules") as report:
        found = Compaction(rules, examples, settings, report).rules_for(n_rules)
    if len(found) == 0:
        caveats.append("No rule helps to tell the target; the rule set has none and gives one class.")
    return found, caveats


def frontier(
    rules: RuleSet,
    examples: Examples,
    settings: Settings,
    *,
    max_rules: int,
    n_splits: int,
    seed: int,
    progress: Progress,
) -> Frontier:
    """Fidelity on rows held back for every budget; see `RuleSet.frontier`."""
    check_budget(max_rules, None)
    max_rules = int(max_rules)
    if not _is_count(n_splits):
        raise ValueError(f"n_splits is {n_splits!r}; at least one split is needed.")
    if len(examples.codes) < 10:
        raise ValueError(f"{len(examples.codes)} rows are too few to hold some back; pass at least 10.")
    if settings.penalty == "cv":
        penalty = _chosen_penalty(rules, examples, settings, max_rules, seed, progress)
        settings = replace(settings, penalty=penalty)
    progress.started("Frontier", n_splits)
    by_split = np.empty((n_splits, max_rules))
    for number, (learn, held_back) in enumerate(_splits(examples, n_splits, seed)):
        with _Watch(progress, f"split {number + 1}") as report:
            found = Compaction(rules, learn, settings, report).rules_down_from(max_rules)
        for n_rules, small in found.items():
            by_split[number, n_rules - 1] = _fidelity(small, held_back, settings.balance)
    return Frontier(np.arange(1, max_rules + 1), by_split)


def _splits(examples: Examples, n_splits: int, seed: int) -> Iterator[tuple[Examples, Examples]]:
    """Rows to learn from and rows held back, of each class in proportion where there are enough."""
    n_of_class = np.bincount(examples.codes)
    is_divisible = (n_of_class != 1).all() and HELD_BACK * len(examples.codes) >= len(n_of_class)
    splitter = StratifiedShuffleSplit if is_divisible else ShuffleSplit
    drawn = splitter(n_splits, test_size=HELD_BACK, random_state=seed)
    for learn, held_back in drawn.split(examples.table, examples.codes):
        yield examples.take(learn), examples.take(held_back)


def _fidelity(rules: RuleSet, examples: Examples, balance: Balance) -> float:
    decided = rules.evaluator.decide(examples.table, "weights", rules.default_index)
    weights = examples.row_weights(balance)
    return float(weights @ (decided == examples.codes) / weights.sum())


def _chosen_penalty(
    rules: RuleSet, examples: Examples, settings: Settings, n_rules: int, seed: int, progress: Progress
) -> float:
    """The penalty with the best fidelity on rows held back; the usual one unless another is clearly better.

    Clearly is by more than the standard error of the differences between the splits.
    """
    usual = usual_penalty(len(examples.codes))
    fidelity: dict[float, list[float]] = {factor: [] for factor in PENALTY_FACTORS}
    progress.started("Penalty", N_SPLITS * len(fidelity))
    for learn, held_back in _splits(examples, N_SPLITS, seed):
        for factor, reached in fidelity.items():
            tried = replace(settings, penalty=factor * usual)
            with _Watch(progress, f"penalty {factor * usual:g}") as report:
                found = Compaction(rules, learn, tried, report).rules_for(n_rules)
            reached.append(_fidelity(found, held_back, settings.balance))
    gains = {factor: np.subtract(reached, fidelity[1.0]) for factor, reached in fidelity.items()}
    best = max(gains, key=lambda factor: float(gains[factor].mean()))
    error = gains[best].std(ddof=1) / np.sqrt(N_SPLITS)
    return usual * (best if gains[best].mean() > error else 1.0)


def _chosen_budget(
    rules: RuleSet,
    examples: Examples,
    settings: Settings,
    max_rules: int | None,
    min_fidelity: float | None,
    seed: int,
    progress: Progress,
) -> tuple[int, list[str]]:
    """The smallest number of rules that is faithful enough on rows held back, or the one recommended.

    Also what the user should be warned about.
    """
    found = frontier(
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
        f"No rule set of at most {found.budgets[-1]} rules reaches a fidelity of {min_fidelity:g} on rows "
        f"held back; the best, with {found.budgets[best]} rules, has {found.fidelity[best]:.4f}. A larger "
        "max_rules or max_terms may help."
    )
    return int(found.budgets[best]), [caveat]


def usual_penalty(n_rows: int) -> float:
    """The penalty where none is given."""
    return float(np.clip(n_rows / 100, LEAST_PENALTY, MOST_PENALTY))


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """What `random_state` stands for when rows are held back; None is 0."""
    return int(check_random_state(0 if random_state is None else random_state).randint(2**31))


def check_budget(max_rules: int | None, min_fidelity: float | None) -> None:
    """Raise a ValueError for a budget that is none."""
    if max_rules is not None and not _is_count(max_rules):
        raise ValueError(f"max_rules is {max_rules!r}; expected a number of rules, 1 or more.")
    if min_fidelity is not None and not (isinstance(min_fidelity, Real) and 0 < min_fidelity <= 1):
        raise ValueError(
            f"min_fidelity is {min_fidelity!r}; it is a part of the rows, above 0 and at most 1."
        )


def _is_count(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and value >= 1


class _Watch:
    """Tells a progress line what a search does."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name, self._stage = progress, name, ""

    def __enter__(self) -> Report:
        return self._report

    def __exit__(self, *_: object) -> None:
        self._progress.part_done()

    def _report(self, stage: str, n_done: int, n_total: int) -> None:
        if stage != self._stage:
            self._stage = stage
            self._progress.part_started(f"{self._name}: {stage}", n_total, "rules")
        self._progress.steps_done(0, n_done)
