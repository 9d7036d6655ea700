"""What a rule is, how rules vote, how they are evaluated and measured."""

from clausewise.rules.comparison import Comparison, Flips
from clausewise.rules.counterfactuals import Change, Counterfactual, Counterfactuals
from clausewise.rules.evaluation import BitMatrix
from clausewise.rules.explanation import Explanation, Explanations, FiredRule, NearMiss
from clausewise.rules.global_explanation import GlobalExplanation
from clausewise.rules.metrics import Evaluation
from clausewise.rules.rule import RESIDUAL, Origin, Rule
from clausewise.rules.rule_change import RuleChange
from clausewise.rules.ruleset import RuleSet, RuleSetBuilder
from clausewise.rules.scorecard import Scorecard, ScorecardLine
from clausewise.rules.term import Term
from clausewise.rules.text import RuleTextError

__all__ = [
    "RESIDUAL",
    "BitMatrix",
    "Change",
    "Comparison",
    "Counterfactual",
    "Counterfactuals",
    "Evaluation",
    "Explanation",
    "Explanations",
    "FiredRule",
    "Flips",
    "GlobalExplanation",
    "NearMiss",
    "Origin",
    "Rule",
    "RuleChange",
    "RuleSet",
    "RuleSetBuilder",
    "RuleTextError",
    "Scorecard",
    "ScorecardLine",
    "Term",
]
