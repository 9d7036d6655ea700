"""Inputs on which a network contradicts rules: results that print and become tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

import numpy as np

from clausewise.base import html
from clausewise.base.frames import Backend, frame_of
from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.networks.plain import Floats
from clausewise.rules.term import format_category
from clausewise.verify.domain import note_on_left_out

_SHOWN_ROWS: Final = 10
_EXPLANATION: Final = (
    "Around real rows on which the network agrees, inputs were looked for on which it contradicts. Distances "
    "are in standard deviations of the columns; the percentile is the percentage of real rows that have "
    "another real row nearer than the input has, and inputs up to a given percentile count as near."
)


@dataclass(frozen=True, eq=False)
class Attack:
    """The attempt to find inputs on which the network contradicts a rule, or a decision of all rules.

    Attributes
    ----------
    kind : {"rule", "decision"}
        What was attacked.
    rule : int or None
        The number of the rule; None for a decision.
    label : class label
        What the rule or the rules say.
    is_against : bool
        Whether the rule speaks against that class.
    n_rows, n_contradicted : int
        Real rows on which the rule fires, or that are decided so, and those among them that the network
        contradicts.
    n_tried : int
        Real rows on which all agree, around which inputs were looked for.
    n_found, n_near : int
        How many of these have such an input, and how many have one that is near to real rows (`near`).
    radius, median_radius : float
        The smallest distance between one of these rows and such an input, and the median over them (infinite
        if most have none), in standard deviations of the columns.
    percentile : float
        Of the nearest input: the percentage of real rows that are nearer than it is to their nearest other
        real row. NaN if none was found.
    network_label : class label or None
        What the network says about the nearest input.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> X = np.random.default_rng(0).uniform(0, 10, (200, 2))
    >>> def network(rows):
    ...     return np.where(rows[:, 0] > rows[:, 1], "good", "bad")
    >>> rules = RuleSet.from_text("IF income > 5 THEN good", ["income", "debt"], default="bad")
    >>> attack = rules.challenge(network, X)[0]
    >>> attack.title, attack.n_rows, attack.n_contradicted
    ('rule 0 (good)', 113, 26)
    >>> attack.n_tried, attack.n_found, attack.n_near
    (64, 64, 64)
    """

    kind: Literal["rule", "decision"]
    rule: int | None
    label: Label
    is_against: bool
    n_rows: int
    n_contradicted: int
    n_tried: int
    n_found: int
    n_near: int
    radius: float
    median_radius: float
    percentile: float
    network_label: Label | None

    @property
    def title(self) -> str:
        """What was attacked, as text."""
        said = f"{'not ' if self.is_against else ''}{format_category(self.label)}"
        return f"rule {self.rule} ({said})" if self.kind == "rule" else f"decision {said}"

    def __str__(self) -> str:
        real = f"contradicted on {self.n_contradicted:,} of {self.n_rows:,} real rows"
        if self.n_found == 0:
            return f"{self.title}: {real}; no input found around {self.n_tried:,} others"
        median = f", median {self.median_radius:.2g}" if np.isfinite(self.median_radius) else ""
        return (
            f"{self.title}: {real}; inputs found around {self.n_found:,} of {self.n_tried:,} others, near "
            f"for {self.n_near:,}; smallest distance {self.radius:.2g} (percentile "
            f"{self.percentile:.0f}){median}"
        )


@dataclass(frozen=True, eq=False)
class Challenge(Sequence[Attack]):
    """Attempts to break each rule and each decision; made by `RuleSet.challenge`.

    Attributes
    ----------
    attacks : tuple of Attack
        One for each rule, then one for each class that the rules predict.
    rows : array or DataFrame
        The inputs that were found, the nearest first for each attack, like the given rows.
    attack_of_row, labels, distances, percentiles, changes
        For each of these rows the position of its attack, what the network says, the distance to the nearest
        real row, the percentage of real rows that are nearer than that to another one, and how it differs
        from the nearest real row, in words.
    near : float
        The percentile up to which an input counts as near to real ones.
    is_stopped : bool
        Whether the time was over before all inputs that were allowed had been tried. The result then depends
        on the speed of the machine.
    n_left_out : int
        Rows that were not used, because of missing values or categories that the rules do not know.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> X = np.random.default_rng(0).uniform(0, 10, (200, 2))
    >>> def network(rows):
    ...     return np.where(rows[:, 0] > rows[:, 1], "good", "bad")
    >>> rules = RuleSet.from_text("IF income > 5 THEN good", ["income", "debt"], default="bad")
    >>> found = rules.challenge(network, X)
    >>> for attack in found:
    ...     print(attack.title, attack.n_rows, attack.n_contradicted, attack.n_near)
    rule 0 (good) 113 26 64
    decision bad 87 23 64
    decision good 113 26 64
    >>> found.worst(2)[["contradicts", "network", "income", "debt"]].round(1)
         contradicts network  income  debt
    0   decision bad    good     0.7   0.7
    1  rule 0 (good)     bad     9.7   9.7
    """

    attacks: tuple[Attack, ...]
    rows: Any
    attack_of_row: tuple[int, ...]
    labels: tuple[Label, ...]
    distances: Floats
    percentiles: Floats
    near: float
    is_stopped: bool
    features: Features = field(repr=False)
    matrix: Floats = field(repr=False)
    changes: tuple[str, ...] = field(repr=False)
    n_left_out: int = 0

    def __len__(self) -> int:
        return len(self.attacks)

    def __getitem__(self, attack: Any) -> Any:
        return self.attacks[attack]

    def __iter__(self) -> Iterator[Attack]:
        return iter(self.attacks)

    @property
    def n_broken_nearby(self) -> int:
        """For how many attacks an input was found that is near to real rows."""
        return sum(bool(attack.percentile <= self.near) for attack in self.attacks)

    def worst(self, n_rows: int = _SHOWN_ROWS, backend: Backend = "pandas") -> Any:
        """Return the inputs that are nearest to real rows, as a table with the raw values of all columns.

        Parameters
        ----------
        n_rows : int, default 10
            How many.
        backend : {"pandas", "polars", "pyarrow"}
            The library of the table.
        """
        order = np.argsort(self.distances, kind="stable")[:n_rows]
        columns: dict[str, Any] = {
            "contradicts": [self.attacks[self.attack_of_row[row]].title for row in order],
            "network": [self.labels[row] for row in order],
            "distance": self.distances[order],
            "percentile": self.percentiles[order],
            "changed": [self.changes[row] for row in order],
        }
        for column, name in enumerate(self.features.names):
            key = name if name not in columns else f"{name} (column)"
            columns[key] = [self._value(row, column) for row in order]
        return frame_of(columns, backend)

    def _value(self, row: int, column: int) -> Category | None:
        return self.features.decode(column, float(self.matrix[row, column]))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per attack."""
        names = [one.name for one in fields(Attack)]
        return frame_of({name: [getattr(one, name) for one in self.attacks] for name in names}, backend)

    @property
    def headline(self) -> str:
        """One line on all attacks."""
        n_found = sum(attack.n_found > 0 for attack in self.attacks)
        return (
            f"{len(self)} rules and decisions challenged: the network contradicts {n_found} on an input that "
            f"was found, {self.n_broken_nearby} on one near to real rows (percentile {self.near:g} or less)"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the result."""
        stopped = "The time was over before all inputs were tried; another run may find more or fewer."
        return (*note_on_left_out(self.n_left_out), *([stopped] if self.is_stopped else []))

    def __str__(self) -> str:
        return "\n".join([self.headline, *map(str, self.attacks), *self.notes])

    def __repr__(self) -> str:
        return f"<Challenge: {self.headline}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                one.title,
                f"{one.n_contradicted:,} of {one.n_rows:,}",
                f"{one.n_found:,} of {one.n_tried:,}",
                f"{one.n_near:,}",
                f"{one.radius:.2g}" if one.n_found else "–",
                f"{one.percentile:.0f}" if one.n_found else "–",
            )
            for one in self.attacks
        ]
        head = (
            "attacked",
            "real rows that contradict",
            "others with such an input",
            "with a near one",
            "smallest distance",
            "percentile",
        )
        table = html.table(head, rows, numbers=[1, 2, 3, 4, 5])
        return html.block(
            self.headline, html.note(_EXPLANATION), table, self._worst_in_html(), html.warnings(self.notes)
        )

    def _worst_in_html(self) -> str:
        """Return the inputs nearest to real rows, by what was changed in these."""
        order = np.argsort(self.distances, kind="stable")[:_SHOWN_ROWS].tolist()
        if not order:
            return ""
        rows = [
            (
                self.attacks[self.attack_of_row[row]].title,
                self.changes[row],
                format_category(self.labels[row]),
                f"{self.percentiles[row]:.0f}",
            )
            for row in order
        ]
        head = ("contradicted", "nearest real row → input", "the network then says", "percentile")
        return html.table(head, rows, numbers=[3])
