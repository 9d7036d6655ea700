"""Three rules on four rows, one of them with a missing value."""

import numpy as np

from clausewise import Rule, RuleSet, Term

X = np.array([[1.0, 0.0], [3.0, 0.0], [9.0, 1.0], [np.nan, 1.0]])
RULES = RuleSet.from_rules(
    [
        Rule((Term(0, high=5),), "a"),
        Rule((Term(0, high=2), Term(1, high=0)), "b"),
        Rule((Term(1, low=0),), "b"),
    ],
    ["size", "age"],
    default="a",
)
