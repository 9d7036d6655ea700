"""What all extractors are: scikit-learn classifiers that decide by rules which imitate a network."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.extractors.rows import as_rows
from clausewise.features import Features
from clausewise.induction._estimator import TableClassifier, encode_for
from clausewise.networks import Network
from clausewise.rules import RuleSet
from clausewise.rules.explanation import Explanations
from clausewise.rules.metrics import fidelity


class ExtractionWarning(UserWarning):
    """The rules are valid, but something about them is not what one would expect."""


class RuleExtractor(TableClassifier):
    """A classifier by extracted rules; subclasses set `rules_`, `network_`, `features_` and `classes_`."""

    rules_: RuleSet
    network_: Network
    features_: Features
    classes_: NDArray[Any]
    n_jobs: int | None

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that the rules give to each row."""
        table = encode_for(self, X)
        rules = self.rules_
        return self.classes_[rules.evaluator.decide(table, rules.voting, rules.default_index, self.n_jobs)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The part of the votes that each class gets; see `RuleSet.predict_proba`."""
        table = encode_for(self, X)
        rules = self.rules_
        return rules.probabilities(rules.evaluator.scores(table, rules.voting, self.n_jobs))

    def fidelity(self, X: Any) -> float:
        """The part of these rows on which the rules decide as the network does."""
        return fidelity(self.predict(X), self.network_.labels(as_rows(X)))

    def explain(self, X: Any) -> Explanations:
        """Per row: the rules that fired, their votes, and the near misses."""
        encode_for(self, X)
        return self.rules_.explain(X, n_jobs=self.n_jobs)
