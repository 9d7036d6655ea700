"""Rules that abstain: a row is decided only if the votes for its class lead by a margin.

The margin of a row is the difference between its two largest scores, those of the rules that decide it. It is
one subtraction of doubles, which every export computes alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clausewise.base.counts import count_of
from clausewise.data.labels import Label
from clausewise.rules.decimals import format_number
from clausewise.rules.guarantee import Count, describe_confidence, describe_fraction

ABSTAINS: Final = -1
"""The code of a row that the rules do not decide; `RuleSet.outcomes` has their label in its last place."""


@dataclass(frozen=True)
class SelectivePromise:
    """What abstaining rules promise about the rows that they decide.

    Attributes
    ----------
    agreement : float
        At least this fraction of the rows that the rules decide is decided as the network does.
    confidence : float
        The probability with which that holds.
    n_rows : int
        Number of fresh rows on which it was tested.
    decided : Count
        The rows among them that the rules decide, and those of these that they decide as the network does.
    digest : str
        Stands for the rules that were tested; edited rules have another (`RuleSet.digest`).
    notes : tuple of str
        How rows were chosen, and what could not be checked.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text(
    ...     "IF age > 40 THEN high IF age <= 60 THEN low", ["age"], default="low", classes=["low", "high"]
    ... )
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (2000, 1))
    >>> network = np.where(fresh[:, 0] > 45, "high", "low")  # or the model itself
    >>> careful = rules.remember_rows([[30], [70]]).abstaining(fresh, network, agreement=0.95)
    >>> print(careful.promised.summary)
    decides 66.6 % of 1,800 fresh rows, and at least 95 % of such rows as the network does (90 % confidence)
    >>> round(careful.promised.fraction_decided, 2)
    0.67
    """

    agreement: float
    confidence: float
    n_rows: int
    decided: Count
    digest: str
    notes: tuple[str, ...] = ()

    @property
    def fraction_decided(self) -> float:
        """The fraction of fresh rows that the rules decide."""
        return self.decided.n_rows / self.n_rows

    @property
    def summary(self) -> str:
        """One line: what is promised, and how many rows are decided."""
        return (
            f"decides {describe_fraction(self.fraction_decided)} of {count_of(self.n_rows, 'fresh row')}, "
            f"and at least {describe_confidence(self.agreement)} of such rows as the network does "
            f"({describe_confidence(self.confidence)} confidence)"
        )

    def __str__(self) -> str:
        counted = describe_fraction(self.decided.fraction)
        return "\n".join([f"The rule set {self.summary}; {counted} were counted.", *self.notes])


@dataclass(frozen=True)
class Abstention:
    """Where rules abstain: on rows with a margin below `margin`, which get `label` instead of a class.

    A margin of 0 means that they decide every row.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text(
    ...     "IF age > 40 THEN high IF age <= 60 THEN low", ["age"], default="low", classes=["low", "high"]
    ... )
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (2000, 1))
    >>> network = np.where(fresh[:, 0] > 45, "high", "low")  # or the model itself
    >>> careful = rules.remember_rows([[30], [70]]).abstaining(fresh, network, agreement=0.95)
    >>> careful.predict([[30], [50], [70]]).tolist()
    ['low', 'abstains', 'high']
    >>> careful.abstention.describe()
    'abstains below a margin of 1000'
    """

    margin: float
    label: Label
    promise: SelectivePromise | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin < np.inf:
            raise ValueError(f"The margin is {self.margin!r}; expected a finite number of 0 or more.")

    def describe(self) -> str:
        """Return it in words: `abstains below a margin of 1.25`."""
        return f"abstains below a margin of {format_number(self.margin)}"


def margins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much the largest score of each row leads; infinity if there is only one class."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])


def with_outcome(classes: NDArray[np.generic], label: Label) -> NDArray[np.generic]:
    """Return the classes with the label of abstention in the last place; raise if it cannot stand there."""
    labels: Sequence[Label] = classes.tolist()
    if label in labels:
        raise ValueError(f"The label of abstention, {label!r}, is a class; pass another label.")
    if isinstance(label, bool) or isinstance(labels[0], bool):
        raise ValueError(
            "Rules for the classes true and false have no third value of that type to abstain with; name the "
            "classes by text or by numbers."
        )
    if isinstance(label, str) != isinstance(labels[0], str):
        raise ValueError(
            f"The label of abstention is {label!r}, and the classes are like {labels[0]!r}; pass a label of "
            "their type."
        )
    if classes.dtype.kind in "OU":
        return np.array([*labels, label], dtype=classes.dtype if classes.dtype.kind == "O" else None)
    return np.array([*labels, label], dtype=np.result_type(classes.dtype, np.min_scalar_type(label)))


def usual_label(classes: NDArray[np.generic]) -> Label:
    """Return the label with which rules abstain unless another is given: "abstains", or −1 for numbers."""
    return "abstains" if isinstance(classes.tolist()[0], str) else -1
