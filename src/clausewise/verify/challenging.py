"""Searching inputs near real rows on which a network contradicts a rule, or a decision of the rules.

Every search moves real rows on which all agree: along the gradient of the network if that is known, towards
rows that the network decides otherwise, and to other values of single columns. The first point on the way at
which the network contradicts, while the rule still fires, is a candidate; the network itself is asked about
the nearest ones.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from clausewise.base.parameters import (
    NOTHING,
    RANDOM_STATE,
    TEXT,
    VERBOSE,
    check_parameters,
    list_of,
    number,
    whole,
)
from clausewise.base.progress import Progress
from clausewise.data.table import Category
from clausewise.networks import Network, wrap
from clausewise.networks.answers import are_labels
from clausewise.networks.arrays import one_blas_thread
from clausewise.networks.plain import Floats, UnsupportedLayerError
from clausewise.rules.abstention import ABSTAINS
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category
from clausewise.verify.challenge import Attack, Challenge
from clausewise.verify.decisions import Decision, decisions_of
from clausewise.verify.distances import RealRows
from clausewise.verify.domain import Booleans, Domain, KnownRows, Regions
from clausewise.verify.questions import NetworkQuestions
from clausewise.verify.search import Claim, Clock, Prover

Codes = NDArray[np.int32]

_N_STARTS: Final = 64
_N_ASKED_AT_ONCE: Final = 1_024
_N_STEPS: Final = 12
# Points at which a way is examined, and rounds that then shorten it.
_ON_THE_WAY: Final = np.linspace(0, 1, 9)[1:]
_N_HALVINGS: Final = 8
# Rows decided otherwise that each row is moved towards, and what is tried in a column: observed values, both
# sides of thresholds, this part of the range beyond them, and options.
_N_GOALS: Final = 4
_N_VALUES: Final = 5
_N_THRESHOLDS: Final = 16
_JUST_BEYOND: Final = 1e-6
_MAX_OPTIONS: Final = 64
_N_KEPT: Final = 5
# Differences from the nearest real row that are named, and the distance that another category counts.
_N_CHANGES: Final = 3
_OTHER_CATEGORY: Final = 2.0**0.5
_PARAMETERS: Final = {
    "near": number(least=0, most=100),
    "fixed": list_of(TEXT | whole(0), "a list of features, by name or position") | NOTHING,
    "max_queries": whole(1),
    "max_seconds": number(above=0),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}


@dataclass(frozen=True, eq=False)
class _Target:
    """A rule, or a decision of the rules.

    Attributes
    ----------
    kind, rule, code, is_against
        As in `Attack`; `code` is the position of the class.
    region : Regions
        Where inputs may lie.
    holds : callable
        Whether the rule fires, or the rules decide so, on encoded rows inside the region.
    """

    kind: Literal["rule", "decision"]
    rule: int | None
    code: int
    is_against: bool
    region: Regions
    holds: Callable[[Floats], Booleans]

    def is_contradicted(self, codes: Codes) -> Booleans:
        """Return whether these answers of the network contradict."""
        return np.asarray(codes == self.code if self.is_against else codes != self.code)


@dataclass(eq=False)
class _Task:
    """What all attacks share."""

    rules: RuleSet
    domain: Domain
    matrix: Floats
    codes: Codes
    real: RealRows
    questions: NetworkQuestions
    prover: Prover | None
    decisions: list[Decision | None]
    is_free: Booleans
    max_queries: int
    clock: Clock
    random: np.random.RandomState
    near: float
    n_left: int = 0
    n_left_out: int = 0

    def answers(self, matrix: Floats) -> Codes:
        """Return the network's classes, up to rounding if its layers are known; −1 if the budget is spent."""
        codes = np.full(len(matrix), -1, dtype=np.int32)
        n_asked = min(len(matrix), self.n_left)
        # In small parts, so that a slow model is not asked long after the time is over.
        for start in range(0, n_asked, _N_ASKED_AT_ONCE):
            if self.clock.is_over:
                break
            part = slice(start, min(start + _N_ASKED_AT_ONCE, n_asked))
            codes[part] = self._asked(matrix[part])
            self.n_left -= part.stop - part.start
        return codes

    def _asked(self, matrix: Floats) -> Codes:
        """Return the network's classes, without a look at the budget."""
        known = [(code, one) for code, one in enumerate(self.decisions) if one is not None]
        if self.prover is None or len(known) < len(self.decisions):
            return self.questions.codes(matrix)
        outputs = self.prover.network.outputs(self.prover.inputs.inputs(matrix))
        values = np.stack([decision.values(outputs) for _, decision in known])
        class_codes = np.array([code for code, _ in known], dtype=np.int32)
        return np.asarray(class_codes[values.argmax(axis=0)])

    def contradicted(self, target: _Target, matrix: Floats) -> Booleans:
        """Return on which rows the network contradicts while the rule fires."""
        holds = target.holds(matrix)
        found = np.zeros(len(matrix), dtype=bool)
        asked = np.flatnonzero(holds)
        codes = self.answers(matrix[asked])
        found[asked] = target.is_contradicted(codes) & (codes >= 0)
        return found


def challenge(
    rules: RuleSet,
    network: Any,
    X: Any,
    *,
    near: float = 95.0,
    fixed: Iterable[str | int] | None = None,
    max_queries: int = 20_000,
    max_seconds: float = 60.0,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> Challenge:
    """Search inputs near real rows on which a network contradicts the rules; see `RuleSet.challenge`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.verify import challenge
    >>> X = np.random.default_rng(0).uniform(0, 10, (200, 2))
    >>> def network(rows):
    ...     return np.where(rows[:, 0] > 6, "good", "bad")
    >>> rules = RuleSet.from_text("IF income > 6.5 THEN good", ["income", "debt"], default="bad")
    >>> found = challenge(rules, network, X)  # as rules.challenge(network, X)
    >>> found[0].title, found[0].n_found  # wherever the rule fires, the network agrees
    ('rule 0 (good)', 0)
    """
    given = {
        "near": near,
        "fixed": fixed,
        "max_queries": max_queries,
        "max_seconds": max_seconds,
        "random_state": random_state,
        "verbose": verbose,
    }
    check_parameters(_PARAMETERS, given)
    if are_labels(network):
        raise TypeError(f"network is a {type(network).__name__} of labels; pass the model itself.")
    clock = Clock.for_seconds(max_seconds)
    random = (
        random_state
        if isinstance(random_state, np.random.RandomState)
        else np.random.RandomState(random_state or 0)
    )
    task = _task(rules, wrap(network), X, fixed, near, max_queries, clock, random)
    targets = list(_targets(task))
    attacks, found, labels = [], [], []
    with one_blas_thread(), Progress(verbose) as progress:
        progress.started("challenge", len(targets))
        for target in targets:
            progress.part_started(target.kind, 0)
            task.n_left = max_queries
            attack, rows, said = _attacked(task, target)
            attacks.append(attack)
            found.append(rows)
            labels += said
            progress.part_done()
    matrix = np.concatenate([np.empty((0, task.matrix.shape[1])), *found])
    distances, nearest = task.real.nearest(matrix)
    places = np.repeat(np.arange(len(found)), [len(rows) for rows in found])
    return Challenge(
        tuple(attacks),
        task.questions.rows(matrix),
        tuple(places.tolist()),
        tuple(labels),
        distances,
        100 * task.real.shares(distances),
        near,
        clock.is_over,
        rules.features,
        matrix,
        tuple(_changes(task, *pair) for pair in zip(task.matrix[nearest], matrix, strict=True)),
        task.n_left_out,
    )


def _task(
    rules: RuleSet,
    network: Network,
    X: Any,
    fixed: Iterable[str | int] | None,
    near: float,
    max_queries: int,
    clock: Clock,
    random: np.random.RandomState,
) -> _Task:
    known = KnownRows.of(X, rules.features, "X")
    matrix = known.matrix
    domain = Domain.of_rows(matrix, rules.features)
    questions = NetworkQuestions(network, rules, known.X)
    is_free = np.ones(len(rules.features), dtype=bool)
    for feature in fixed or ():
        is_free[rules.features.index(feature)] = False
    prover, decisions = None, list[Decision | None]()
    try:
        model = network.differentiable(rules.features.table(known.X)).reading(rules.features.names)
        layers, decisions = decisions_of(model, rules.labels, network.classes.tolist())
        prover = Prover.of(model, layers, domain)
    except UnsupportedLayerError:
        pass  # any other model is asked about rows and thresholds
    codes = questions.codes(matrix)
    real = RealRows.of(domain, matrix, random)
    return _Task(
        rules,
        domain,
        matrix,
        codes,
        real,
        questions,
        prover,
        decisions,
        is_free,
        max_queries,
        clock,
        random,
        near,
        n_left_out=known.n_left_out,
    )


def _targets(task: _Task) -> Iterable[_Target]:
    """Yield each rule that can fire, and each class that the rules predict."""
    rules, domain = task.rules, task.domain
    for rule in range(len(rules)):
        region = domain.region_of(rules.columns, rule)
        if region is not None:
            is_against = rules.voting == "weights" and bool(rules.columns.weight[rule] < 0)
            yield _Target(
                "rule",
                rule,
                int(rules.columns.class_index[rule]),
                is_against,
                region,
                _inside(domain, region),
            )
    decided = _decided(rules, task.matrix)
    for code in np.unique(decided[decided != ABSTAINS]).tolist():
        yield _Target("decision", None, code, False, domain.whole(), _decides(rules, code))


def _inside(domain: Domain, region: Regions) -> Callable[[Floats], Booleans]:
    return lambda matrix: domain.contains(region, matrix)[0]


def _decides(rules: RuleSet, code: int) -> Callable[[Floats], Booleans]:
    return lambda matrix: np.asarray(_decided(rules, matrix) == code)


def _decided(rules: RuleSet, matrix: Floats) -> NDArray[Any]:
    return rules.evaluator.decide(matrix, rules.voting, rules.default_index, 1)


def _attacked(task: _Task, target: _Target) -> tuple[Attack, Floats, list[Any]]:
    """Attack one target; return the result, the nearest inputs, and what the network says about them."""
    covered = target.holds(task.matrix)
    contradicted = covered & target.is_contradicted(task.codes)
    # Of rows that inputs are compared with, so that an input is at most as far from them as from its start.
    agreeing = task.real.chosen[(covered & ~contradicted)[task.real.chosen]]
    starts = task.matrix[np.sort(task.random.permutation(agreeing)[:_N_STARTS])]
    best = np.full((len(starts), starts.shape[1]), np.nan)
    radius = np.full(len(starts), np.inf)
    for ends, sources in _ends(task, target, starts):
        _shorten(task, target, starts, ends, sources, best, radius)
    is_found = np.isfinite(radius)
    rows, radii = best[is_found], radius[is_found]
    codes, labels = task.questions.answers(rows) if len(rows) else (np.empty(0, np.int32), [])
    # Rounding may have misled the search; only what the network itself says counts.
    confirmed = np.flatnonzero(target.is_contradicted(codes))
    order = confirmed[np.argsort(radii[confirmed], kind="stable")]
    _, first = np.unique(rows[order], axis=0, return_index=True)  # several rows may have led to one input
    kept = order[np.sort(first)[:_N_KEPT]]
    nearest = rows[kept[:1]]
    percentile = 100 * task.real.shares(task.real.nearest(nearest)[0])[0] if len(nearest) else np.nan
    every = np.concatenate([radii[confirmed], np.full(len(starts) - len(confirmed), np.inf)])
    attack = Attack(
        target.kind,
        target.rule,
        task.rules.labels[target.code],
        target.is_against,
        int(covered.sum()),
        int(contradicted.sum()),
        len(starts),
        len(confirmed),
        int((100 * task.real.shares(task.real.nearest(rows[confirmed])[0]) <= task.near).sum()),
        float(radii[order[0]]) if len(order) else np.inf,
        float(np.median(every)) if len(every) else np.inf,
        float(percentile),
        labels[kept[0]] if len(kept) else None,
    )
    return attack, rows[kept], [labels[place] for place in kept]


def _changes(task: _Task, real: Floats, made: Floats) -> str:
    """Return how an input differs from a real row, in words, the largest differences first."""
    features = task.rules.features
    size = (made != real) * _OTHER_CATEGORY
    numbers = task.domain.numbers
    size[numbers] = np.abs(made - real)[numbers] / task.real.units
    places = [place for place in np.argsort(-size, kind="stable").tolist() if size[place] > 0]
    texts = [
        f"{features.names[place]} {_shown(features.decode(place, real[place]))} → "
        f"{_shown(features.decode(place, made[place]))}"
        for place in places[:_N_CHANGES]
    ]
    if len(places) > _N_CHANGES:
        texts.append(f"and {len(places) - _N_CHANGES} more")
    return ", ".join(texts) if texts else "none"


def _shown(value: Category | None) -> str:
    """Return a value in few digits; whole numbers have all of theirs."""
    is_fraction = isinstance(value, float) and not value.is_integer()
    return f"{value:.4g}" if is_fraction else format_category(value)  # type: ignore[arg-type]


def _ends(task: _Task, target: _Target, starts: Floats) -> Iterable[tuple[Floats, NDArray[np.intp]]]:
    """Yield rows towards which starts are moved, and the position of the start of each."""
    if len(starts) == 0:
        return
    every = np.arange(len(starts))
    if task.prover is not None and task.decisions[target.code] is not None:
        yield _along_gradient(task, target, starts), every
    others = task.matrix[target.is_contradicted(task.codes)]
    if len(others):
        others = others[np.sort(task.random.permutation(len(others))[:2_000])]
        goals = _nearest(task, starts, others, min(_N_GOALS, len(others)))
        sources = np.repeat(every, goals.shape[1])
        yield _allowed(task, target, starts[sources], others[goals.ravel()]), sources
    for columns, values in _other_values(task):
        sources = np.repeat(every, len(values))
        ends = starts[sources]
        ends[:, columns] = np.tile(values, (len(starts), 1))
        yield _allowed(task, target, starts[sources], ends), sources


def _other_values(task: _Task) -> Iterable[tuple[NDArray[np.intp], Floats]]:
    """Yield columns that change together, and what they may become: a row of values for each try."""
    domain = task.domain
    for choice in domain.choices:
        if task.is_free[choice.columns].all():
            yield choice.columns, _evenly(choice.values, _MAX_OPTIONS)
    numbers = [column for column in domain.numbers if task.is_free[column]]
    for column in numbers:
        yield np.array([column]), _evenly(np.unique(task.matrix[:, column]), _N_VALUES)[:, None]
    for column in numbers:
        values = _beside_thresholds(task, column)
        if len(values):
            yield np.array([column]), values[:, None]


def _evenly(values: Floats, n_values: int) -> Floats:
    """Return so many of the values (all, if they are fewer), at even distances in their order."""
    return np.asarray(values[np.unique(np.linspace(0, len(values) - 1, n_values).astype(int))])


def _beside_thresholds(task: _Task, column: np.intp) -> Floats:
    """Return the thresholds of the rules in a column, and values just beyond: decisions change there."""
    stored, at = task.rules.columns, int(np.flatnonzero(task.domain.numbers == column)[0])
    bounds = np.concatenate([part[stored.feature == column] for part in (stored.low, stored.high)])
    low, high = task.domain.low[at], task.domain.high[at]
    bounds = np.unique(bounds[(bounds >= low) & (bounds < high)])
    if len(bounds) == 0:
        return np.empty(0)
    bounds = _evenly(bounds, _N_THRESHOLDS)
    if task.domain.is_whole[at]:
        return np.unique(np.concatenate([np.floor(bounds), np.floor(bounds) + 1.0]))
    return np.unique(np.concatenate([bounds, bounds + _JUST_BEYOND * (high - low)]))


def _along_gradient(task: _Task, target: _Target, starts: Floats) -> Floats:
    """Return where steps across the decision boundary, taken for a plane each time, lead."""
    assert task.prover is not None
    decision, domain = task.decisions[target.code], task.domain
    assert decision is not None
    claim, rows = Claim(decision, target.is_against), starts.copy()
    for _ in range(_N_STEPS):
        if task.n_left < len(rows) or task.clock.is_over:
            break
        task.n_left -= len(rows)
        values, slopes = task.prover.slopes(rows, claim)
        # In standard deviations, which make columns comparable.
        slopes = slopes * task.real.units * task.is_free[domain.numbers]
        length = np.maximum((slopes**2).sum(axis=1), 1e-12)
        step = -(1.1 * np.maximum(values, 0.0) + 1e-6)[:, None] * slopes / length[:, None]
        size = np.sqrt((step**2).sum(axis=1, keepdims=True))
        step *= np.minimum(1.0, 1.0 / np.maximum(size, 1e-12))
        rows[:, domain.numbers] += step * task.real.units
        rows = _allowed(task, target, starts, rows)
    return rows


def _nearest(task: _Task, rows: Floats, others: Floats, n_nearest: int) -> NDArray[np.intp]:
    mine, theirs = task.real.points(rows), task.real.points(others)
    squares = (theirs**2).sum(axis=1) - 2 * mine @ theirs.T
    return np.argsort(squares, axis=1, kind="stable")[:, :n_nearest]


def _allowed(task: _Task, target: _Target, starts: Floats, ends: Floats) -> Floats:
    """Return rows with fixed columns as before, inside the region, with whole numbers and valid options."""
    domain, region = task.domain, target.region
    made = np.where(task.is_free, ends, starts)
    numbers = made[:, domain.numbers]
    numbers = np.where(domain.is_whole, np.round(numbers), numbers)
    clipped = np.clip(numbers, region.low[0], region.high[0])
    made[:, domain.numbers] = np.where(task.is_free[domain.numbers], clipped, made[:, domain.numbers])
    for choice, allowed in zip(domain.choices, region.options, strict=True):
        option = domain.option_of(choice, made)
        is_valid = (option >= 0) & allowed[0][np.maximum(option, 0)]
        columns = choice.columns
        made[:, columns] = np.where(is_valid[:, None], made[:, columns], starts[:, columns])
    return made


def _shorten(
    task: _Task,
    target: _Target,
    starts: Floats,
    ends: Floats,
    sources: NDArray[np.intp],
    best: Floats,
    radius: Floats,
) -> None:
    """Find the first point on each way at which the network contradicts; keep the nearest of each start."""
    begin = starts[sources]
    moves = (ends != begin).any(axis=1)
    begin, ends, sources = begin[moves], ends[moves], sources[moves]
    if len(ends) == 0:
        return
    # Options change at once, so that there is nothing on the way if numbers stay.
    numbers = task.domain.numbers
    is_way = bool((ends[:, numbers] != begin[:, numbers]).any())
    shares = _ON_THE_WAY if is_way else _ON_THE_WAY[-1:]
    ways = np.concatenate([_between(task, target, begin, ends, share) for share in shares])
    hits = task.contradicted(target, ways).reshape(len(shares), len(ends))
    some = np.flatnonzero(hits.any(axis=0))
    if len(some) == 0:
        return
    begin, ends, sources = begin[some], ends[some], sources[some]
    high = shares[hits[:, some].argmax(axis=0)]
    low = high - _ON_THE_WAY[0]
    for _ in range(_N_HALVINGS if is_way else 0):
        middle = (low + high) / 2
        hits = task.contradicted(target, _between(task, target, begin, ends, middle[:, None]))
        low, high = np.where(hits, low, middle), np.where(hits, middle, high)
    rows = _between(task, target, begin, ends, high[:, None])
    difference = task.real.points(rows) - task.real.points(begin)
    distance = np.sqrt((difference**2).sum(axis=1))
    for place in np.argsort(-distance, kind="stable").tolist():
        if distance[place] < radius[sources[place]]:
            best[sources[place]], radius[sources[place]] = rows[place], distance[place]


def _between(task: _Task, target: _Target, begin: Floats, ends: Floats, share: Any) -> Floats:
    """Return rows on the way; options change as soon as one leaves the start."""
    numbers = task.domain.numbers
    rows = ends.copy()
    rows[:, numbers] = begin[:, numbers] + share * (ends[:, numbers] - begin[:, numbers])
    return _allowed(task, target, begin, rows)
