"""Short, faithful IF-THEN rules from trained neural networks."""

from importlib.metadata import version as _version

from clausewise.extractors import ECLAIRE, ExtractionWarning, extract
from clausewise.features import Features
from clausewise.induction import C50Classifier, CARTClassifier
from clausewise.io.json import RuleFileError
from clausewise.networks import Network, wrap
from clausewise.rules import Origin, Rule, RuleSet, RuleSetBuilder, Term

__version__ = _version("clausewise")
__all__ = [
    "ECLAIRE",
    "C50Classifier",
    "CARTClassifier",
    "ExtractionWarning",
    "Features",
    "Network",
    "Origin",
    "Rule",
    "RuleFileError",
    "RuleSet",
    "RuleSetBuilder",
    "Term",
    "__version__",
    "extract",
    "wrap",
]
