"""Reading input: tables, features, labels, weights and rows, with one reader for each."""

from clausewise.data.features import Features
from clausewise.data.labels import LabelError

__all__ = ["Features", "LabelError"]
