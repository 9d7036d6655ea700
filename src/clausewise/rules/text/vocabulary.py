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
    """What is known about a rule set before its rules are read; None where nothing is known."""

    features: Features | None = None
    classes: NDArray[Any] | None = None
    default: Label | None = None
    voting: Voting | None = None
    base: list[float] | None = None
    scale: float = 1.0


def vocabulary_of(rules: BaseRuleSet) -> Vocabulary:
    """Return the vocabulary of a rule set, for reading more rules of it."""
    return Vocabulary(rules.features, rules.classes, rules.default, rules.voting)


def vocabulary_from(
    features: Features | Sequence[str] | None,
    classes: ArrayLike | None,
    default: Label | None,
    voting: Voting | None,
) -> Vocabulary:
    """Return the vocabulary that a caller passes beside a text."""
    labels = None if classes is None else as_classes(classes)
    if labels is not None and default is not None:
        default = known_label(default, labels)
    return Vocabulary(None if features is None else as_features(features), labels, default, voting)
