"""The smallest change of a row after which the rules, and the network if there is one, decide otherwise."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, overload

import numpy as np

from clausewise.analysis.counterfactual_agreement import Agreement, NetworkLabels, require_changeable_rows
from clausewise.analysis.counterfactual_goals import Goals
from clausewise.analysis.counterfactual_limits import Booleans, Floats, read_limits
from clausewise.analysis.counterfactual_moves import costs_of, units_of
from clausewise.analysis.counterfactual_search import Task, smallest_changes
from clausewise.analysis.counterfactual_tables import ChangeableTable
from clausewise.base import html
from clausewise.base.frames import Backend, frame_of
from clausewise.base.parameters import JOBS, check_parameters, whole
from clausewise.data.features import Features
from clausewise.data.labels import Label, known_label
from clausewise.data.rows import take_rows
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Value, format_category

# Rows of the reference that changes of three or more features are found with.
_MAX_GOALS: Final = 2_000
_MAX_GOAL_CELLS: Final = 2**18
# At most this many rows are shown in a notebook.
_SHOWN_ROWS: Final = 20


@dataclass(frozen=True)
class Change:
    """Another value for one feature of a row.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 AND debt > 8 THEN high", ["age", "debt"], default="low")
    >>> change = rules.counterfactuals([[60, 9]], fixed=["age"])[0].changes[0]
    >>> change.feature, change.before, change.after
    ('debt', 9.0, 8.0)
    >>> print(change)
    debt 9 → 8
    """

    feature: str
    before: Value
    after: Value

    @property
    def shown(self) -> tuple[str, str]:
        """Both values as text."""
        before = self.before
        if isinstance(before, float) and float(f"{before:.6g}") != self.after:
            before = float(f"{before:.6g}")  # further digits of the row's value are noise
        one, other = (
            "unknown" if value is None else format_category(value) for value in (before, self.after)
        )
        return one, other

    def __str__(self) -> str:
        return f"{self.feature} {' → '.join(self.shown)}"


@dataclass(frozen=True)
class Counterfactual:
    """The smallest change that was found of a row.

    With a network, the rules and the network both predict `becomes` on the changed row if `is_confirmed`;
    otherwise, no such change was found, and this is the smallest change for the rules alone.

    Attributes
    ----------
    row : int
        Position of the row.
    prediction, becomes : class label
        The rules' decision on the row, and on the changed row; `becomes` is None if no change was found.
    changes : tuple of Change
        The changes, at most `max_features`; empty if no change was found or none is needed.
    distance : float
        Sum of the changes, each in units of its feature; infinite if no change was found.
    network_before, network_after : class label or None
        The network's decisions without and with the changes, if a network was given.
    max_features : int
        How many features were allowed to change.
    to : class label or None
        The wanted decision, if one was given.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 AND debt > 8 THEN high", ["age", "debt"], default="low")
    >>> found = rules.counterfactuals([[60, 9]], fixed=["age"])[0]
    >>> found.prediction, found.becomes, [str(change) for change in found.changes]
    ('high', 'low', ['debt 9 → 8'])
    >>> found.is_found, found.distance
    (True, 0.125)
    """

    row: int
    prediction: Label
    becomes: Label | None
    changes: tuple[Change, ...]
    distance: float
    network_before: Label | None = None
    network_after: Label | None = None
    max_features: int = 2
    to: Label | None = None

    def __repr__(self) -> str:
        return f"<Counterfactual: {self}>"

    def _repr_html_(self) -> str:
        rows = [(one.feature, *one.shown) for one in self.changes]
        return html.block(str(self), html.table(("feature", "from", "to"), rows) if rows else "")

    @property
    def is_found(self) -> bool:
        """Whether a change was found, at least for the rules alone, or none is needed."""
        return self.becomes is not None

    @property
    def is_confirmed(self) -> bool | None:
        """Whether the network predicts `becomes` on the changed row; None if no network was given."""
        if self.network_after is None:
            return None
        return self.becomes is not None and self.network_after == self.becomes

    def shown(self, prediction: Label) -> str:
        """Return a prediction as text."""
        return format_category(prediction)

    @property
    def aim(self) -> str:
        """What a change should do, as text: `flips it`, `flips it to yes`."""
        return "flips it" if self.to is None else f"flips it to {self.shown(self.to)}"

    def __str__(self) -> str:
        head = f"row {self.row}: {self.shown(self.prediction)}"
        n_features = "one feature" if self.max_features == 1 else f"up to {self.max_features} features"
        if self.becomes is None:
            return f"{head}; no change of {n_features} {self.aim}"
        flips = f"becomes {self.shown(self.becomes)} if {' and '.join(map(str, self.changes))}"
        if self.network_after is None:
            return f"{head} {flips}" if self.changes else f"{head} already"
        if self.is_confirmed:
            agrees = "the network agrees"
            return f"{head} {flips} ({agrees})" if self.changes else f"{head} already, and {agrees}"
        network = f"the network: {self.shown(self.network_after)}"
        rules = f"for the rules alone, it {flips}" if self.changes else "the rules decide so already"
        return (
            f"{head}; no change of {n_features} was found that the rules and the network confirm ({rules}; "
            f"{network})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals(Sequence[Counterfactual]):
    """One Counterfactual per row.

    Attributes
    ----------
    found : tuple of Counterfactual
        One per row.
    rows : array or DataFrame
        The given rows, with the changes applied.
    units : ndarray of shape (n_features,)
        The change of each feature that counts as a distance of 1; 1 for categorical and binary features.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 AND debt > 8 THEN high", ["age", "debt"], default="low")
    >>> found = rules.counterfactuals([[60, 9], [20, 7]])
    >>> print(found)
    row 0: high becomes low if debt 9 → 8
    row 1: low becomes high if age 20 → 51 and debt 7 → 9
    >>> found.rows
    array([[60.,  8.],
           [51.,  9.]])
    >>> found.to_frame()[["row", "prediction", "becomes", "distance"]]
       row prediction becomes  distance
    0    0       high     low     0.125
    1    1        low    high     0.870
    """

    found: tuple[Counterfactual, ...]
    rows: Any
    units: Floats

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, row: int) -> Counterfactual: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Counterfactual, ...]: ...
    def __getitem__(self, row: int | slice) -> Counterfactual | tuple[Counterfactual, ...]:
        return self.found[row]

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.found)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per row: both decisions, the changes as text, the distance, the network's label."""
        return frame_of(
            {
                "row": [one.row for one in self.found],
                "prediction": [one.prediction for one in self.found],
                "becomes": [one.becomes for one in self.found],
                "n_changes": [len(one.changes) for one in self.found],
                "changes": [" and ".join(map(str, one.changes)) for one in self.found],
                "distance": [one.distance for one in self.found],
                "network": [one.network_after for one in self.found],
                "confirmed": [one.is_confirmed for one in self.found],
            },
            backend,
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                str(one.row),
                one.shown(one.prediction),
                "–" if one.becomes is None else one.shown(one.becomes),
                " and ".join(map(str, one.changes)) or "–",
                f"{one.distance:.3g}" if one.is_found else "",
                "" if one.network_after is None else one.shown(one.network_after),
            )
            for one in self.found[:_SHOWN_ROWS]
        ]
        head = ("row", "prediction", "becomes", "if", "distance", "network then")
        n_more = len(self) - len(rows)
        return html.block(
            f"Smallest changes of {len(self):,} rows",
            html.table(head, rows, numbers=[0, 4]),
            html.note(f"… and {n_more:,} more; see to_frame()") if n_more else "",
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.found))

    def __repr__(self) -> str:
        n_found = sum(one.is_found for one in self.found)
        n_confirmed = sum(one.is_confirmed is True for one in self.found)
        has_network = any(one.is_confirmed is not None for one in self.found)
        confirmed = f", {n_confirmed:,} confirmed by the network" if has_network else ""
        return f"<Counterfactuals for {n_found:,} of {len(self):,} rows{confirmed}>"


def counterfactuals(
    rules: RuleSet,
    X: Any,
    max_features: int,
    network: Any,
    to: Label | None,
    reference: Any,
    *,
    fixed: Iterable[str | int] | None = None,
    increase_only: Iterable[str | int] | None = None,
    decrease_only: Iterable[str | int] | None = None,
    allowed: Mapping[str | int, Any] | None = None,
    max_queries: int = 1000,
    n_jobs: int | None = None,
) -> Counterfactuals:
    """Find the smallest changes that flip the rules' decisions, row by row; see `RuleSet.counterfactuals`.

    Examples
    --------
    `rules.counterfactuals([[60, 9]], fixed=["age"])` is the same:

    >>> from clausewise import RuleSet
    >>> from clausewise.analysis import counterfactuals
    >>> rules = RuleSet.from_text("IF age > 50 AND debt > 8 THEN high", ["age", "debt"], default="low")
    >>> options = {"max_features": 2, "network": None, "to": None, "reference": None, "fixed": ["age"]}
    >>> print(counterfactuals(rules, [[60, 9]], **options))
    row 0: high becomes low if debt 9 → 8
    """
    check_parameters(
        {"max_features": whole(1), "max_queries": whole(1), "n_jobs": JOBS},
        {"max_features": max_features, "max_queries": max_queries, "n_jobs": n_jobs},
    )
    rules.require_deciding("a change of the decision")
    if max_features > 2 and reference is None:
        raise ValueError(
            f"max_features is {max_features} without reference; pass rows of the training data as reference, "
            "in which changes of more than two features are looked for."
        )
    wanted = None if to is None else rules.labels.index(known_label(to, rules.classes))
    if network is not None:
        require_changeable_rows(network, rules)
    labels = None if network is None else NetworkLabels(network, rules)
    if rules.features.source is not None:
        X = rules.features.columns(X)
        reference = None if reference is None else rules.features.columns(reference)
        rules = replace(rules, features=replace(rules.features, source=None))
    matrix = encoded(rules.features, X)
    known = None if reference is None else encoded_reference(rules.features, reference)
    table = ChangeableTable(X, rules.features, matrix)
    is_whole = _whole_numbers(rules, table, known)
    limits = read_limits(rules.features, known, is_whole, fixed, increase_only, decrease_only, allowed)
    units = units_of(rules.columns, rules.features, known)

    def searched(asked: NetworkLabels | None) -> tuple[Floats, Booleans]:
        goals = None
        if max_features > 2 and known is not None and len(known):
            goals = _goals(rules, reference, known, asked, n_jobs)
        task = Task(rules, known, limits, units, max_features, goals, n_jobs)
        agreement = Agreement(rules, matrix, wanted, asked, table, max_queries, n_jobs)
        return smallest_changes(task, agreement)

    changed, is_found = searched(None)
    if labels is not None:
        of_both, is_confirmed = searched(labels)
        changed[is_confirmed] = of_both[is_confirmed]
        is_found |= is_confirmed
    rows = table.changed(changed)
    decided = [_labels_of_rules(rules, one, n_jobs) for one in (matrix, changed)]
    answers: list[list[Label | None]] = [[None] * len(matrix)] * 2
    if labels is not None and len(matrix):
        answers = [labels.of_rows(one) for one in (table.changed(matrix), rows)]
    distances = costs_of(matrix, changed, rules.features, units).sum(axis=1).tolist()
    described = tuple(
        Counterfactual(
            row=row,
            prediction=decided[0][row],
            becomes=decided[1][row] if is_found[row] else None,
            changes=_changes(rules, matrix[row], changed[row]),
            distance=distances[row] if is_found[row] else math.inf,
            network_before=answers[0][row],
            network_after=answers[1][row],
            max_features=max_features,
            to=None if wanted is None else rules.labels[wanted],
        )
        for row in range(len(matrix))
    )
    return Counterfactuals(described, rows, units)


def _labels_of_rules(rules: RuleSet, matrix: Floats, n_jobs: int | None) -> list[Label]:
    codes = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
    return [rules.labels[code] for code in codes.tolist()]


def encoded(features: Features, X: Any) -> Floats:
    """Return rows as a matrix that may be changed."""
    return np.array(features.encode(X), dtype=np.float64)


def encoded_reference(features: Features, reference: Any) -> Floats:
    """Return the reference as a matrix; errors name it instead of X."""
    try:
        return encoded(features, reference)
    except ValueError as error:
        raise ValueError(str(error).replace("X has", "reference has", 1)) from None


def _whole_numbers(rules: RuleSet, table: ChangeableTable, known: Floats | None) -> list[bool]:
    """Return which features only have whole numbers: in the known rows, or by the type of their column."""
    is_whole = table.integer_features
    if known is not None:
        finite = [column[np.isfinite(column)] for column in known.T]
        is_whole = [len(column) > 0 and bool((column == np.floor(column)).all()) for column in finite]
    return [kind == "numeric" and one for kind, one in zip(rules.features.kinds, is_whole, strict=True)]


def _goals(
    rules: RuleSet, reference: Any, known: Floats, network: NetworkLabels | None, n_jobs: int | None
) -> Goals:
    """Return rows of the reference that the rules, and the network if there is one, decide alike."""
    n_goals = min(_MAX_GOALS, _MAX_GOAL_CELLS // known.shape[1] + 1)
    places = np.unique(np.linspace(0, len(known) - 1, n_goals).astype(np.intp))
    codes = rules.evaluator.decide(known[places], rules.voting, rules.default_index, n_jobs)
    is_agreed = np.ones(len(places), dtype=bool)
    if network is not None:
        is_agreed = network.codes(take_rows(reference, places)) == codes
    return Goals(known[places[is_agreed]], codes[is_agreed])


def _changes(rules: RuleSet, before: Floats, after: Floats) -> tuple[Change, ...]:
    decode = rules.features.decode
    return tuple(
        Change(
            rules.features.names[feature],
            decode(feature, float(before[feature])),
            decode(feature, float(after[feature])),
        )
        for feature in np.flatnonzero((before != after) & ~np.isnan(before)).tolist()
    )
