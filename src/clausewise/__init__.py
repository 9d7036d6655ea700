"""Short, faithful IF-THEN rules from trained neural networks."""

from importlib.metadata import version as _version

from clausewise.features import Features
from clausewise.io.json import RuleFileError
from clausewise.rules import Origin, Rule, RuleSet, RuleSetBuilder, Term

__version__ = _version("clausewise")
__all__ = ["Features", "Origin", "Rule", "RuleFileError", "RuleSet", "RuleSetBuilder", "Term", "__version__"]
