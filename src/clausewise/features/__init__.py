"""Readable columns of series, for rules about networks that read the series themselves.

`clausewise.wrap(model, features=f)` takes any function or fitted transformer from raw rows to named columns;
those here are scikit-learn transformers.
"""

from clausewise.features.intervals import IntervalFeatures

__all__ = ["IntervalFeatures"]
