"""Rules: terms, rules and rule sets, voting, evaluation, measures and text."""

from clausewise.rules.abstention import Abstention, SelectivePromise
from clausewise.rules.builder import RuleSetBuilder
from clausewise.rules.changes import RuleChange
from clausewise.rules.evaluator import BitMatrix
from clausewise.rules.guarantee import Guarantee, Promise
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import RegressionRule
from clausewise.rules.rule import RESIDUAL, Origin, Rule
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import Term
from clausewise.rules.text import RuleTextError

__all__ = [
    "RESIDUAL",
    "Abstention",
    "BitMatrix",
    "Guarantee",
    "LinearTerm",
    "Origin",
    "Promise",
    "RegressionRule",
    "RegressionRules",
    "Rule",
    "RuleChange",
    "RuleSet",
    "RuleSetBuilder",
    "RuleTextError",
    "SelectivePromise",
    "Term",
]
