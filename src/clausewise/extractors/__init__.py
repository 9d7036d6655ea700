"""Methods that extract rules from networks."""

from clausewise.extractors.base import ExtractionWarning, RuleExtractor
from clausewise.extractors.budget import ExtractionBudgetExceeded
from clausewise.extractors.eclaire import ECLAIRE
from clausewise.extractors.pedagogical import Pedagogical, TreeEnsembleRules
from clausewise.extractors.rem_d import REMD, DeepRED
from clausewise.extractors.report import ExtractionReport
from clausewise.extractors.short_form import extract

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
