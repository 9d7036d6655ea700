"""Rule sets written for other systems, all of which decide exactly as `RuleSet.predict` does."""

from clausewise.export.graphviz import to_graphviz
from clausewise.export.onnx import to_onnx
from clausewise.export.pmml import to_pmml
from clausewise.export.python import to_python
from clausewise.export.sql import DIALECTS, DialectName, to_sql
from clausewise.export.tables import to_latex, to_markdown

__all__ = [
    "DIALECTS",
    "DialectName",
    "to_graphviz",
    "to_latex",
    "to_markdown",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_sql",
]
