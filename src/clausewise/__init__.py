"""Short, faithful IF-THEN rules from trained models."""

from importlib.metadata import version as _version

from clausewise import features, plots
from clausewise.analysis import Counterfactuals, GlobalExplanation, Scorecard
from clausewise.compact import CompactionWarning, Frontier, synthetic_rows
from clausewise.data import Features, LabelError
from clausewise.extractors import (
    ECLAIRE,
    REMD,
    DeepRED,
    ExtractionLimitExceeded,
    ExtractionWarning,
    Pedagogical,
    RuleRegressor,
    TreeEnsembleRules,
    extract,
)
from clausewise.induction import C50Classifier, CARTClassifier
from clausewise.io import RuleFileError
from clausewise.networks import Network, wrap
from clausewise.rules import (
    LinearTerm,
    Origin,
    RegressionRule,
    RegressionRules,
    Rule,
    RuleSet,
    RuleSetBuilder,
    RuleTextError,
    Term,
    metrics,
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
    "ExtractionLimitExceeded",
    "ExtractionWarning",
    "Features",
    "Frontier",
    "GlobalExplanation",
    "LabelError",
    "LinearTerm",
    "Network",
    "Origin",
    "Pedagogical",
    "RegressionRule",
    "RegressionRules",
    "Rule",
    "RuleFileError",
    "RuleRegressor",
    "RuleSet",
    "RuleSetBuilder",
    "RuleTextError",
    "Scorecard",
    "Term",
    "TreeEnsembleRules",
    "__version__",
    "extract",
    "features",
    "metrics",
    "plots",
    "synthetic_rows",
    "wrap",
]
