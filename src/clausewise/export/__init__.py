"""Rule sets written for other systems. Every export that decides or predicts does so as `predict` does."""

from clausewise.export.ensembles import boosted_to_onnx, boosted_to_python, boosted_to_sql
from clausewise.export.graphviz import to_graphviz
from clausewise.export.latex import to_latex
from clausewise.export.markdown import to_markdown
from clausewise.export.onnx import to_onnx
from clausewise.export.onnx_sum import sum_to_onnx
from clausewise.export.pmml import to_pmml
from clausewise.export.pmml_sum import sum_to_pmml
from clausewise.export.python import to_python
from clausewise.export.python_sum import sum_to_python
from clausewise.export.sql import to_sql
from clausewise.export.sql_dialects import DIALECTS, DialectName
from clausewise.export.sql_sum import sum_to_sql

__all__ = [
    "DIALECTS",
    "DialectName",
    "boosted_to_onnx",
    "boosted_to_python",
    "boosted_to_sql",
    "sum_to_onnx",
    "sum_to_pmml",
    "sum_to_python",
    "sum_to_sql",
    "to_graphviz",
    "to_latex",
    "to_markdown",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_sql",
]
