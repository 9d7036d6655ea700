"""Methods that extract rules from networks."""

from clausewise.extractors.base import ExtractionWarning, RuleExtractor
from clausewise.extractors.eclaire import ECLAIRE
from clausewise.extractors.limits import ExtractionBudgetExceeded
from clausewise.extractors.methods import extract
from clausewise.extractors.pedagogical import Pedagogical, TreeEnsembleRules
from clausewise.extractors.rem_d import REMD, DeepRED
from clausewise.extractors.run_log import ExtractionReport

__all__ = [
    "ECLAIRE",
    "REMD",
    "DeepRED",
    "ExtractionBudgetExceeded",
    "ExtractionReport",
    "ExtractionWarning",
    "Pedagogical",
    "RuleExtractor",
    "TreeEnsembleRules",
    "extract",
]
