"""Short, faithful IF-THEN rules from trained neural networks."""

from importlib.metadata import version as _version

from clausewise import plots
from clausewise.compact import CompactionWarning, Frontier
from clausewise.extractors import (
    ECLAIRE,
    REMD,
    DeepRED,
    ExtractionBudgetExceeded,
    ExtractionWarning,
    Pedagogical,
    TreeEnsembleRules,
    extract,
)
from clausewise.features import Features
from clausewise.induction import C50Classifier, CARTClassifier
from clausewise.io.json import RuleFileError
from clausewise.networks import Network, wrap
from clausewise.rules import (
    Counterfactuals,
    GlobalExplanation,
    Origin,
    Rule,
    RuleSet,
    RuleSetBuilder,
    RuleTextError,
    Scorecard,
    Term,
)

__version__ = _version("clausewise")
__all__ = [
    "ECLAIRE",
    "REMD",
    "C50Classifier",
    "CARTClassifier",
    "CompactionWarning",
    "Counterfactuals",
    "DeepRED",
    "ExtractionBudgetExceeded",
    "ExtractionWarning",
    "Features",
    "Frontier",
    "GlobalExplanation",
    "Network",
    "Origin",
    "Pedagogical",
    "Rule",
    "RuleFileError",
    "RuleSet",
    "RuleSetBuilder",
    "RuleTextError",
    "Scorecard",
    "Term",
    "TreeEnsembleRules",
    "__version__",
    "extract",
    "plots",
    "wrap",
]
