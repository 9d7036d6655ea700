"""Boosted C5.0 classifiers written for other systems. They decide as `C50Classifier.predict` does."""

from collections.abc import Sequence
from typing import Any

from clausewise.export.onnx_ensemble import ensemble_to_onnx
from clausewise.export.plan import ensemble_plan
from clausewise.export.python_ensemble import ensemble_to_python
from clausewise.export.sql_ensemble import ensemble_to_sql
from clausewise.rules.ruleset import RuleSet

__all__ = ["boosted_to_onnx", "boosted_to_python", "boosted_to_sql"]


def boosted_to_sql(
    rule_sets: Sequence[RuleSet],
    confidence_of_default: float,
    table: str | Sequence[str],
    dialect: str,
    decision: str,
) -> str:
    """Return a query that scores a table; see `C50Classifier.to_sql`.

    Examples
    --------
    `C50Classifier.to_sql` calls it:

    >>> from clausewise import C50Classifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> query = C50Classifier(trials=3).fit(X, y).to_sql("flowers", dialect="postgresql")
    >>> query.splitlines()[0], query.splitlines()[-1]
    ('-- C5.0, 3 boosted rule sets with 12 rules', 'FROM clausewise_step_5 AS t')
    """
    return ensemble_to_sql(ensemble_plan(rule_sets, confidence_of_default), table, dialect, decision)


def boosted_to_python(rule_sets: Sequence[RuleSet], confidence_of_default: float) -> str:
    """Return the text of a module; see `C50Classifier.to_python`.

    Examples
    --------
    `C50Classifier.to_python` calls it:

    >>> from clausewise import C50Classifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> boosted = C50Classifier(trials=3).fit(X, y)
    >>> module = {}
    >>> exec(boosted.to_python(), module)
    >>> module["predict_many"](X[:2].tolist()) == boosted.predict(X[:2]).tolist()
    True
    """
    return ensemble_to_python(ensemble_plan(rule_sets, confidence_of_default))


def boosted_to_onnx(rule_sets: Sequence[RuleSet], confidence_of_default: float) -> Any:
    """Return an `onnx.ModelProto`; see `C50Classifier.to_onnx`.

    Examples
    --------
    `C50Classifier.to_onnx` calls it:

    >>> from clausewise import C50Classifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = C50Classifier(trials=3).fit(X, y).to_onnx()
    >>> [output.name for output in model.graph.output]
    ['label', 'scores']
    """
    return ensemble_to_onnx(ensemble_plan(rule_sets, confidence_of_default), rule_sets[0].classes)
