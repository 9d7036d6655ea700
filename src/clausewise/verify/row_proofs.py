"""Proven boxes around single rows."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base import html
from clausewise.base.frames import Backend, frame_of
from clausewise.base.parameters import check_parameters, number
from clausewise.data.labels import Label
from clausewise.networks.arrays import one_blas_thread
from clausewise.networks.plain import Floats
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category
from clausewise.verify.decisions import Decision
from clausewise.verify.domain import Regions
from clausewise.verify.questions import Codes, NetworkQuestions
from clausewise.verify.search import TIME_USED, Claim, Clock, Prover

# The radius is found by bisection, to within one part in 2 ** this.
_N_HALVINGS: Final = 14
_SHOWN_ROWS: Final = 20


@dataclass(frozen=True, eq=False)
class RowProofs:
    """The proven box around each of several rows.

    Attributes
    ----------
    labels : tuple of class labels
        What the network predicts on each row, and on all of its box; None if there was no time to ask.
    radius : ndarray of shape (n_rows,)
        How far the box reaches in each column, as a fraction of the column's range in the domain; NaN if not
        even the row itself is proven, or lies outside of the domain.
    low, high : ndarray of shape (n_rows, n_features)
        The bounds of each box, encoded.
    feature_names : tuple of str
        The columns.
    is_stopped : bool
        Whether the time was over before the largest boxes of all rows had been found.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork([[[1, -1], [-1, 1]]], [[0, 0]], classes=["good", "bad"])
    >>> rules = RuleSet.from_text("IF income > 6 AND debt <= 5 THEN good", ["income", "debt"], default="bad")
    >>> domain = np.random.default_rng(0).uniform(0, 10, (200, 2))
    >>> boxes = rules.certify(network, domain).around([[8.0, 2.0], [5.0, 4.8]])
    >>> boxes.labels, boxes.radius.round(2).tolist()
    (('good', 'good'), [0.3, 0.01])
    """

    labels: tuple[Label | None, ...]
    radius: Floats
    low: Floats
    high: Floats
    feature_names: tuple[str, ...]
    is_stopped: bool = False

    def __len__(self) -> int:
        return len(self.radius)

    def share_within(self, radius: float) -> float:
        """Return the fraction of rows around which a box of this radius is proven."""
        return float((np.nan_to_num(self.radius, nan=-1.0) >= radius).mean())

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per row: its label, the radius, and the bounds of its box."""
        bounds = {
            f"{name} {end}": values[:, column]
            for column, name in enumerate(self.feature_names)
            for end, values in (("from", self.low), ("to", self.high))
        }
        return frame_of({"label": list(self.labels), "radius": self.radius, **bounds}, backend)

    def __str__(self) -> str:
        shares = ", ".join(
            f"{100 * self.share_within(r):.0f} % within {100 * r:g} %" for r in (0.001, 0.01, 0.05)
        )
        stopped = (
            "; the time was over before all boxes were examined, raise seconds=" if self.is_stopped else ""
        )
        return (
            f"{len(self):,} rows with a proven box around them: {shares} of the range of each column{stopped}"
        )

    def __repr__(self) -> str:
        return f"<RowProofs: {self}>"

    def _repr_html_(self) -> str:
        rows = [
            (str(row), "" if label is None else format_category(label), f"{self.radius[row]:.3g}")
            for row, label in enumerate(self.labels[:_SHOWN_ROWS])
        ]
        n_more = len(self) - len(rows)
        return html.block(
            str(self),
            html.table(("row", "label", "radius"), rows, numbers=[0, 2]),
            html.note(f"… and {n_more:,} more; see to_frame()") if n_more else "",
        )


@dataclass(frozen=True, eq=False)
class RowProver:
    """Proves boxes around rows.

    Attributes
    ----------
    rules : RuleSet
        Read rows, and name classes.
    prover : Prover
        Bounds the network.
    questions : NetworkQuestions
        Asks the network itself.
    decisions : list of Decision or None
        One for each class of the rules.
    """

    rules: RuleSet
    prover: Prover
    questions: NetworkQuestions
    decisions: list[Decision | None]

    def around(self, X: Any, seconds: float) -> RowProofs:
        """Return the largest proven box around each row that bisection finds in this time."""
        check_parameters({"seconds": number(above=0)}, {"seconds": seconds})
        clock = Clock.for_seconds(TIME_USED * seconds)
        matrix = np.asarray(self.rules.features.encode(X), dtype=np.float64)
        domain, labels = self.prover.domain, list[Label | None]()
        radius = np.full(len(matrix), np.nan)
        with one_blas_thread():
            for part in clock.batches(len(matrix)):
                codes, said = self.questions.answers(matrix[part])
                labels += said
                radius[part] = self._radii_of(matrix[part], codes, clock)
        labels += [None] * (len(matrix) - len(labels))
        bounds = self._regions(matrix, np.nan_to_num(radius, nan=0.0))
        low, high = matrix.copy(), matrix.copy()
        low[:, domain.numbers], high[:, domain.numbers] = bounds.low, bounds.high
        return RowProofs(
            tuple(labels), radius, low, high, self.rules.features.names, is_stopped=clock.has_stopped
        )

    def _radii_of(self, matrix: Floats, codes: Codes, clock: Clock) -> Floats:
        """Return the radius around each row, on all of which the network predicts the class of the row."""
        domain, radius = self.prover.domain, np.full(len(matrix), np.nan)
        is_inside = domain.contains(domain.whole(), matrix)[0]
        for code in np.unique(codes[is_inside & (codes < len(self.decisions))]):
            decision = self.decisions[code]
            rows = np.flatnonzero(is_inside & (codes == code))
            if decision is not None:
                radius[rows] = self._radii(matrix[rows], Claim(decision), clock)
        return radius

    def _radii(self, matrix: Floats, claim: Claim, clock: Clock) -> Floats:
        proven, beyond = np.full(len(matrix), np.nan), np.ones(len(matrix))
        left = clock.left
        proven[self._holds(matrix, np.zeros(len(matrix)), claim)] = 0.0
        for _ in range(_N_HALVINGS):
            # A halving takes about as long as the one before.
            left, needed = clock.left, left - clock.left
            if left <= needed:
                clock.has_stopped = True
                break
            middle = (np.nan_to_num(proven, nan=0.0) + beyond) / 2
            holds = self._holds(matrix, middle, claim) & ~np.isnan(proven)
            proven, beyond = np.where(holds, middle, proven), np.where(holds, beyond, middle)
        return proven

    def _holds(self, matrix: Floats, radius: Floats, claim: Claim) -> NDArray[np.bool_]:
        size = self.prover.batch_size
        regions = self._regions(matrix, radius)
        parts = [regions.take(slice(start, start + size)) for start in range(0, len(matrix), size)]
        return np.concatenate([self.prover.examine(part, claim).is_proven for part in parts])

    def _regions(self, matrix: Floats, radius: Floats) -> Regions:
        domain = self.prover.domain
        numbers = matrix[:, domain.numbers]
        reach = radius[:, None] * (domain.high - domain.low)
        reach = np.where(domain.is_whole, np.floor(reach), reach)
        options = tuple(
            np.arange(choice.n_options) == domain.option_of(choice, matrix)[:, None]
            for choice in domain.choices
        )
        # A row outside of the domain has no box; its region is itself, and is not proven.
        low = np.minimum(np.maximum(numbers - reach, domain.low), numbers)
        return Regions(low, np.maximum(np.minimum(numbers + reach, domain.high), numbers), options)
