"""Building rule sets rule by rule."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from clausewise.data.features import Features
from clausewise.data.labels import Label, as_classes, known_label
from clausewise.rules.base import DEFAULT_VOTING, base_votes
from clausewise.rules.rule import Origin, Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.stored import as_features
from clausewise.rules.term import Term
from clausewise.rules.voting import Voting, checked_voting

if TYPE_CHECKING:
    from typing import Self


class RuleSetBuilder:
    """Collects rules one by one and builds a rule set from them.

    Parameters
    ----------
    features : Features or sequence of str
        The columns that rules may test.
    classes : array-like
        The class labels.
    default : class label
        The class where no rule fires.
    voting : {"confidence", "majority", "share", "weights"}
        How the rules vote.
    base : array-like of shape (n_classes,), optional
        Votes that every row starts with under `voting="weights"`; zeros unless given.

    Examples
    --------
    >>> from clausewise import RuleSetBuilder, Term
    >>> builder = RuleSetBuilder(["age", "income"], classes=["low", "high"], default="low")
    >>> builder = builder.add([Term(0, "age", low=60)], "high", confidence=0.9)
    >>> builder = builder.add([Term(0, "age", low=40), Term(1, "income", high=2)], "high", confidence=0.7)
    >>> print(builder.build())
    2 rules for the classes low, high; voting confidence, otherwise low
    0  IF age > 60 THEN high   (confidence 0.90)
    1  IF age > 40 AND income ≤ 2 THEN high   (confidence 0.70)
    """

    def __init__(
        self,
        features: Features | Sequence[str],
        classes: ArrayLike,
        default: Label,
        voting: Voting = DEFAULT_VOTING,
        base: ArrayLike | None = None,
    ) -> None:
        self.features = as_features(features)
        self.classes = as_classes(classes)
        self.default = known_label(default, self.classes)
        self.voting = checked_voting(voting)
        self.base = base_votes(base, len(self.classes))
        self._rules: list[Rule] = []

    def __len__(self) -> int:
        return len(self._rules)

    def add(
        self,
        premise: Iterable[Term],
        conclusion: Label,
        *,
        confidence: float = 1.0,
        cover: float = 0.0,
        correct: float = 0.0,
        weight: float = 1.0,
        origin: Origin | None = None,
        priority: bool = False,
    ) -> "Self":
        """Append one rule."""
        label = known_label(conclusion, self.classes)
        self._rules.append(Rule(tuple(premise), label, confidence, cover, correct, weight, origin, priority))
        return self

    def build(self) -> RuleSet:
        """Return a rule set of the rules added so far."""
        return RuleSet.from_rules(
            self._rules,
            self.features,
            default=self.default,
            classes=self.classes,
            voting=self.voting,
            base=self.base,
        )
