"""Rule induction, the paper's ψ: learn rules from a prepared matrix and class labels."""

from clausewise.induction.c50 import C50Classifier, C50Inducer
from clausewise.induction.c50_trials import C50Trial
from clausewise.induction.cart import CARTClassifier, CARTInducer
from clausewise.induction.forest import RandomForestInducer
from clausewise.induction.matrix import PreparedMatrix
from clausewise.induction.protocol import (
    Inducer,
    Premises,
    ProgressCallback,
    get_inducer,
    induce_many,
    induce_premises,
    rules_or_default,
)
from clausewise.induction.tree import C50Tree

__all__ = [
    "C50Classifier",
    "C50Inducer",
    "C50Tree",
    "C50Trial",
    "CARTClassifier",
    "CARTInducer",
    "Inducer",
    "Premises",
    "PreparedMatrix",
    "ProgressCallback",
    "RandomForestInducer",
    "get_inducer",
    "induce_many",
    "induce_premises",
    "rules_or_default",
]
