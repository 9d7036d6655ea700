"""Short, faithful IF-THEN rules from trained models."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clausewise import features, plots
    from clausewise.analysis import Counterfactuals, GlobalExplanation, Scorecard
    from clausewise.compact import CompactionWarning, Frontier
    from clausewise.compact.synthetic_rows import synthetic_rows
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
    from clausewise.partitions import partitioned
    from clausewise.rules import (
        Guarantee,
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

    __version__: str

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
    "Guarantee",
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
    "partitioned",
    "plots",
    "synthetic_rows",
    "wrap",
]

# The folder that each name comes from. It is imported when the name is first used, so that the package and
# programs that use little of it start at once.
_FOLDER_OF = {
    name: folder
    for folder, names in {
        "analysis": ("Counterfactuals", "GlobalExplanation", "Scorecard"),
        "compact": ("CompactionWarning", "Frontier", "synthetic_rows"),
        "data": ("Features", "LabelError"),
        "extractors": (
            "ECLAIRE",
            "REMD",
            "DeepRED",
            "ExtractionLimitExceeded",
            "ExtractionWarning",
            "Pedagogical",
            "RuleRegressor",
            "TreeEnsembleRules",
            "extract",
        ),
        "induction": ("C50Classifier", "CARTClassifier"),
        "io": ("RuleFileError",),
        "networks": ("Network", "wrap"),
        "partitions": ("partitioned",),
        "rules": (
            "Guarantee",
            "LinearTerm",
            "Origin",
            "RegressionRule",
            "RegressionRules",
            "Rule",
            "RuleSet",
            "RuleSetBuilder",
            "RuleTextError",
            "Term",
        ),
    }.items()
    for name in names
}
_FOLDERS = {*_FOLDER_OF.values(), "base", "export", "features", "plots", "report"}


def __getattr__(name: str) -> Any:
    if name in _FOLDER_OF:
        value = getattr(_import_module(f"clausewise.{_FOLDER_OF[name]}"), name)
    elif name in _FOLDERS:
        value = _import_module(f"clausewise.{name}")
    elif name == "metrics":
        value = _import_module("clausewise.rules.metrics")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("clausewise")
    else:
        raise AttributeError(f"module 'clausewise' has no attribute {name!r}")
    globals()[name] = value  # the next use finds it without a call
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FOLDERS})
