"""Methods that extract rules from networks."""

from clausewise.extractors.base import ExtractionWarning, RuleExtractor
from clausewise.extractors.deepred import DeepRED
from clausewise.extractors.eclaire import ECLAIRE
from clausewise.extractors.limits import ExtractionLimitExceeded
from clausewise.extractors.methods import METHODS, extract
from clausewise.extractors.pedagogical import Pedagogical
from clausewise.extractors.rem_d import REMD
from clausewise.extractors.rule_regressor import RuleRegressor
from clausewise.extractors.run_log import ExtractionReport
from clausewise.extractors.tree_ensemble import TreeEnsembleRules

__all__ = [
    "ECLAIRE",
    "METHODS",
    "REMD",
    "DeepRED",
    "ExtractionLimitExceeded",
    "ExtractionReport",
    "ExtractionWarning",
    "Pedagogical",
    "RuleExtractor",
    "RuleRegressor",
    "TreeEnsembleRules",
    "extract",
]
