"""The features and classes that a rule text may name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from clausewise.data.features import Features
from clausewise.data.labels import Label, as_classes, known_label
from clausewise.rules.base import BaseRuleSet
from clausewise.rules.stored import as_features
from clausewise.rules.voting import Voting


@dataclass(frozen=True)
class Vocabulary:
    """What is known about a rule set before its rules are read; None where nothing is known.

    Examples
    --------
    >>> from clausewise import Features
    >>> from clausewise.rules.text import Vocabulary, read_ruleset
    >>> known = Vocabulary(Features(("age", "debt")), default="low")
    >>> print(read_ruleset("IF age > 50 THEN high", known))
    1 rule for the classes high, low; voting confidence, otherwise low
    0  IF age > 50 THEN high   (confidence 1.00)
    """

    features: Features | None = None
    classes: NDArray[Any] | None = None
    default: Label | None = None
    voting: Voting | None = None
    base: list[float] | None = None
    scale: float = 1.0


def vocabulary_of(rules: BaseRuleSet) -> Vocabulary:
    """Return the vocabulary of a rule set, for reading more rules of it.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.rules.text import read_rules, vocabulary_of
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age", "debt"], default="low")
    >>> more = read_rules("IF debt > 8 THEN high WITH confidence 0.9", vocabulary_of(rules))
    >>> print(more[0])
    IF debt > 8 THEN high   (confidence 0.90)
    """
    return Vocabulary(rules.features, rules.classes, rules.default, rules.voting)


def vocabulary_from(
    features: Features | Sequence[str] | None,
    classes: ArrayLike | None,
    default: Label | None,
    voting: Voting | None,
) -> Vocabulary:
    """Return the vocabulary that a caller passes beside a text.

    Examples
    --------
    >>> from clausewise.rules.text import read_rules, vocabulary_from
    >>> known = vocabulary_from(["age", "debt"], classes=["low", "high"], default="low", voting=None)
    >>> [str(rule) for rule in read_rules("IF age > 50 THEN high", known)]
    ['IF age > 50 THEN high   (confidence 1.00)']
    """
    labels = None if classes is None else as_classes(classes)
    if labels is not None and default is not None:
        default = known_label(default, labels)
    return Vocabulary(None if features is None else as_features(features), labels, default, voting)
