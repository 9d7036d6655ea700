"""Reads rules for classes: a premise, a class and properties. `document.py` reads headers."""

from functools import partial
from typing import Final

from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.rules.base import DEFAULT_VOTING
from clausewise.rules.rule import Rule, check_statistics
from clausewise.rules.text.premises import PremiseReader, value_key
from clausewise.rules.text.vocabulary import Vocabulary

_STATISTICS: Final = ("confidence", "cover", "correct", "weight")


def read_rules(text: str, known: Vocabulary) -> list[Rule]:
    """Read a text that holds rules only, about known features and classes.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.rules.text import read_rules, vocabulary_of
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age", "debt"], default="low")
    >>> text = "IF debt > 8 THEN high IF age <= 30 AND debt <= 1 THEN low"
    >>> for rule in read_rules(text, vocabulary_of(rules)):
    ...     print(rule)
    IF debt > 8 THEN high   (confidence 1.00)
    IF age ≤ 30 AND debt ≤ 1 THEN low   (confidence 1.00)
    """
    return RuleReader(text, known).only_rules()


class RuleReader(PremiseReader[Rule]):
    """Reads rules about the features and classes of `vocabulary`, which headers extend."""

    def rule(self) -> Rule:
        """Read `IF` premise `THEN` [`NOT`] class [`WITH` properties]."""
        position = self.token.position
        self.expect("IF")
        terms = self.premise()
        self.expect("THEN")
        is_against = self._takes_not()
        conclusion_position = self.token.position
        conclusion = self.label()
        properties = self.properties(_STATISTICS, ("priority",)) if self.take("WITH") else {}
        if is_against:
            weight = properties.get("weight", 1.0)
            if weight < 0:
                self.fail("after NOT, the weight must not be negative", conclusion_position)
            properties["weight"] = -weight
        return self.build(lambda: Rule(terms, conclusion, **properties), position)

    def _takes_not(self) -> bool:
        """Read NOT before a class: the rule takes votes from it. Only rules that vote by weights do."""
        voting = self.vocabulary.voting or DEFAULT_VOTING
        if self.sees("NOT") and voting != "weights":
            self.fail(f"NOT before a class needs voting by weights; these rules vote by {voting}")
        return self.take("NOT")

    def statistic(self, name: str) -> float:
        """Read the value of a statistic; a confidence is checked at once."""
        position = self.token.position
        value = self.number()
        if name == "confidence":
            self.build(partial(check_statistics, value, 0.0, 0.0, 1.0), position)
        return value

    def label(self) -> Label:
        """Read a class label; one of the known classes, if there are any."""
        raw, position = self.token.text, self.token.position
        value = self.value()
        if self.vocabulary.classes is None:
            return value
        return self.found(value, raw, position, self._labels, "class")

    def index_vocabulary(self) -> None:
        """Prepare what names, categories and labels are found by."""
        super().index_vocabulary()
        classes = self.vocabulary.classes
        self._labels: dict[tuple[bool, Category], Label] = (
            {} if classes is None else {value_key(label): label for label in classes.tolist()}
        )
