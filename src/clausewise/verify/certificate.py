"""What was proven about rules: results that print, become tables, and give certified rules."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from clausewise.base import html
from clausewise.base.counts import count_of
from clausewise.base.frames import Backend, frame_of
from clausewise.data.labels import Label
from clausewise.networks.plain import Floats
from clausewise.rules.rule import Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Term, format_category
from clausewise.verify.domain import Booleans, Domain, Regions, note_on_left_out

if TYPE_CHECKING:
    from clausewise.verify.row_proofs import RowProofs, RowProver

Status = Literal["proven", "refuted", "open", "empty"]

# Beyond so many columns, boxes are too many for whole rules to be proven.
MANY_COLUMNS: Final = 10
_EXPLANATION: Final = (
    "A rule is proven if the network decides as it says on every row of the domain on which it fires, and "
    "refuted by a row on which the network was asked and says otherwise."
)


@dataclass(frozen=True, eq=False)
class RuleProof:
    """What was proven about one rule.

    Attributes
    ----------
    rule : int
        The number of the rule.
    predicts : class label
        The class that the rule speaks for, or against.
    is_against : bool
        Whether it speaks against that class.
    status : {"proven", "refuted", "open", "empty"}
        "proven": wherever the rule fires in the domain, the network decides so. "refuted": there is
        a row on which it does not, as the network itself has confirmed. "open": neither was found. "empty":
        the rule fires nowhere in the domain.
    proven_volume, refuted_volume : float
        The fractions of the rule's volume on which the network provably always decides so, and never.
    n_rows : int
        How many rows of the domain the rule covers, among those that the network was asked about.
    proven_rows : float
        The fraction of these rows in the proven part; NaN without rows.
    network_label : class label or None
        What the network predicts for the counterexample.
    parts : Regions
        Boxes inside the rule on which the network provably decides as the rule says. A rule against one of
        three or more classes has none, since it does not say which class the network predicts.
    n_boxes : int
        How many boxes were bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork([[[1, -1], [-1, 1]]], [[0, 0]], classes=["good", "bad"])
    >>> text = "IF income > 6 AND debt <= 5 THEN good IF debt > 4 THEN bad"
    >>> rules = RuleSet.from_text(text, ["income", "debt"], default="good", classes=["good", "bad"])
    >>> domain = np.random.default_rng(0).uniform(0, 10, (200, 2))
    >>> for proof in rules.certify(network, domain, max_boxes=500):
    ...     print(proof.rule, proof.status, round(proof.proven_volume, 2), proof.network_label)
    0 proven 1.0 None
    1 refuted 0.7 good
    """

    rule: int
    predicts: Label
    is_against: bool
    status: Status
    proven_volume: float
    refuted_volume: float
    n_rows: int
    proven_rows: float
    network_label: Label | None
    parts: Regions
    n_boxes: int

    @property
    def conclusion(self) -> str:
        """What the rule says, as text."""
        return f"{'not ' if self.is_against else ''}{format_category(self.predicts)}"

    def __str__(self) -> str:
        if self.status == "empty":
            return f"rule {self.rule} ({self.conclusion}): fires nowhere in the domain"
        volume, rows = _percent(self.proven_volume), _percent(self.proven_rows)
        shares = f"{volume} of its volume and {rows} of its rows proven"
        found = (
            f"; on a row, the network says {format_category(self.network_label)}"
            if self.network_label is not None
            else ""
        )
        return f"rule {self.rule} ({self.conclusion}): {self.status}, {shares}{found}"


@dataclass(frozen=True, eq=False)
class Certificate(Sequence[RuleProof]):
    """What was proven about the rules of a rule set; made by `RuleSet.certify`.

    Attributes
    ----------
    rules : RuleSet
        The rules.
    proofs : tuple of RuleProof
        One per rule.
    counterexamples : array or DataFrame
        One row for each refuted rule, in the order of the rules, on which the network contradicts it.
    n_rows, n_followed_rows, n_certified_rows : int
        Rows of the domain; how many of them the network was asked about, all or a random sample; and how many
        of these the certified parts of the rules contain.
    n_left_out : int
        Rows that are not in the domain, because of missing values or categories that the rules do not know.
    is_stopped : bool
        Whether the time was over before all boxes that were allowed had been bounded. The result then depends
        on the speed of the machine.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork([[[1, -1], [-1, 1]]], [[0, 0]], classes=["good", "bad"])
    >>> text = "IF income > 6 AND debt <= 5 THEN good IF debt > 4 THEN bad"
    >>> rules = RuleSet.from_text(text, ["income", "debt"], default="good", classes=["good", "bad"])
    >>> domain = np.random.default_rng(0).uniform(0, 10, (200, 2))
    >>> certificate = rules.certify(network, domain, max_boxes=500)
    >>> certificate.to_frame()[["rule", "conclusion", "status", "proven_volume"]].round(2)
       rule conclusion   status  proven_volume
    0     0       good   proven            1.0
    1     1        bad  refuted            0.7
    >>> income, debt = certificate.counterexamples[0]  # rule 1 fires, but the network says "good"
    >>> bool(income > debt > 4)
    True
    >>> print(certificate.shrunk()[0])
    IF income > 6 AND debt ≤ 5 THEN good   (confidence 0.98, covers 47)
    """

    rules: RuleSet
    proofs: tuple[RuleProof, ...]
    counterexamples: Any
    n_rows: int
    n_followed_rows: int
    n_certified_rows: int
    is_stopped: bool
    domain: Domain = field(repr=False)
    matrix: Floats = field(repr=False)
    labels: Any = field(repr=False)
    rows: Any = field(repr=False)
    row_prover: "RowProver" = field(repr=False)
    n_left_out: int = 0

    def __len__(self) -> int:
        return len(self.proofs)

    def __getitem__(self, rule: Any) -> Any:
        return self.proofs[rule]

    def __iter__(self) -> Iterator[RuleProof]:
        return iter(self.proofs)

    def shrunk(self) -> RuleSet:
        """Return the certified parts of the rules: inside each, the network provably always decides so.

        Rules against one of three or more classes have no certified parts. So on every row that
        `certified(X)` names, these rules predict what the network does.

        The proofs are about rows in the domain: all numbers in the range, and all categories among those, of
        the rows that were given as `domain`, and whole numbers where its columns have only these. On other
        rows, and on those that no part contains, nothing is proven, although rules may fire there and
        `predict` always returns a class: ask `certified(X)`. Cover and confidence are counted on the rows of
        the domain.
        """
        made = [rule for proof in self.proofs for rule in self._parts(proof)]
        rules = RuleSet.from_rules(
            made,
            self.rules.features,
            default=self.rules.default,
            classes=self.rules.classes,
            voting="weights",
        )
        return rules.with_statistics(self.rows, self.labels) if len(made) else rules

    def certified(self, X: Any) -> Booleans:
        """Return for each row whether it is in the domain and in a certified part of a rule."""
        matrix = np.asarray(self.rules.features.encode(X), dtype=np.float64)
        inside = np.zeros(len(matrix), dtype=bool)
        for proof in self.proofs:
            if len(proof.parts):
                inside |= self.domain.contains(proof.parts, matrix).any(axis=0)
        return inside

    def around(self, X: Any, *, seconds: float = 60.0) -> "RowProofs":
        """Return for each row the largest proven box around it that was found.

        The box has the row in its middle and reaches as far in every column, as a fraction of its range in
        the domain; outside of the domain it is cut off, and categories do not change. On all of it, the
        network provably decides as on the row.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows in the domain.
        seconds : float, default 60
            A limit on the time. If it is reached, the result says so; some boxes are then smaller than they
            could be, or missing.
        """
        return self.row_prover.around(X, seconds)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per rule: conclusion, status, proven shares, what the network says instead."""
        return frame_of(
            {
                "rule": [proof.rule for proof in self.proofs],
                "conclusion": [proof.conclusion for proof in self.proofs],
                "status": [proof.status for proof in self.proofs],
                "proven_volume": [proof.proven_volume for proof in self.proofs],
                "refuted_volume": [proof.refuted_volume for proof in self.proofs],
                "n_rows": [proof.n_rows for proof in self.proofs],
                "proven_rows": [proof.proven_rows for proof in self.proofs],
                "n_parts": [len(proof.parts) for proof in self.proofs],
                "network": [proof.network_label for proof in self.proofs],
            },
            backend,
        )

    @property
    def headline(self) -> str:
        """One line on all rules."""
        counts = {
            status: sum(p.status == status for p in self.proofs) for status in ("proven", "refuted", "open")
        }
        return (
            f"{count_of(len(self), 'rule')} on the domain of {self.n_rows:,} rows: "
            f"{counts['proven']} proven, "
            f"{counts['refuted']} refuted, {counts['open']} open; certified parts contain "
            f"{_percent(self.n_certified_rows / self.n_followed_rows)} of the rows"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the result."""
        found = list(note_on_left_out(self.n_left_out))
        if self.n_followed_rows < self.n_rows:
            found.append(
                f"The network was asked about {self.n_followed_rows:,} of the {self.n_rows:,} rows; all that "
                "is said about rows is counted on these. Proofs are about the whole domain."
            )
        if self.domain.n_coordinates > MANY_COLUMNS:
            found.append(note_on_columns(self.domain))
        if self.is_stopped:
            found.append(
                "The time was over before all boxes were examined; another run may prove more or less. Raise "
                "seconds=, or lower max_boxes= for a result that can be repeated."
            )
        return tuple(found)

    def __str__(self) -> str:
        return "\n".join([self.headline, *map(str, self.proofs), *self.notes])

    def __repr__(self) -> str:
        return f"<Certificate: {self.headline}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                str(proof.rule),
                proof.conclusion,
                proof.status,
                html.Bar(_percent(proof.proven_volume), proof.proven_volume),
                html.Bar(_percent(proof.proven_rows), 0.0 if proof.n_rows == 0 else proof.proven_rows),
                "" if proof.network_label is None else format_category(proof.network_label),
            )
            for proof in self.proofs
        ]
        head = (
            "rule",
            "conclusion",
            "status",
            "volume proven",
            "rows proven",
            "the network on a counterexample",
        )
        table = html.table(head, rows, numbers=[0, 3, 4])
        return html.block(self.headline, html.note(_EXPLANATION), table, html.warnings(self.notes))

    def _parts(self, proof: RuleProof) -> Iterator[Rule]:
        label = proof.predicts
        if proof.is_against:  # only with two classes
            label = next(other for other in self.rules.labels if other != label)
        origin = self.rules.columns.origins[proof.rule]
        for place in range(len(proof.parts)):
            terms = tuple(_terms(self.domain, proof.parts.take([place])))
            yield Rule(terms, label, weight=1.0, origin=origin)


def note_on_columns(domain: Domain) -> str:
    """Return a note on a domain of many columns."""
    return (
        f"The domain has {domain.n_coordinates} independent columns; with more than {MANY_COLUMNS}, little "
        "of a rule can be proven."
    )


def _terms(domain: Domain, region: Regions) -> Iterator[Term]:
    """Yield the terms of a region; bounds of the domain are left out."""
    names = domain.features.names
    for at, column in enumerate(domain.numbers.tolist()):
        low, high = float(region.low[0, at]), float(region.high[0, at])
        below = low - 1.0 if domain.is_whole[at] else float(np.nextafter(low, -np.inf))
        above_all, below_all = low <= domain.low[at], high >= domain.high[at]
        if not (above_all and below_all):
            yield Term(
                column,
                names[column],
                low=-math.inf if above_all else below,
                high=math.inf if below_all else high,
            )
    for choice, allowed in zip(domain.choices, region.options, strict=True):
        if allowed[0].all():
            continue
        column = int(choice.columns[0])
        categories = domain.features.categories[column]
        if categories is not None:
            codes = choice.values[allowed[0], 0].astype(int)
            yield Term(column, names[column], values=[categories[code] for code in codes])
        else:  # a one-hot block: none of the other options
            for option in np.flatnonzero(~allowed[0]):
                other = int(choice.columns[option])
                yield Term(other, names[other], high=0.5)


def _percent(share: float) -> str:
    if np.isnan(share):
        return "–"
    # Rounded down, so that only what is proven as a whole is shown as 100 %.
    return f"{np.floor(1000 * share + 1e-9) / 10:.1f} %"
