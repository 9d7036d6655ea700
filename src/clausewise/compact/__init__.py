"""Small weighted rule sets under a budget."""

from clausewise.compact.compaction import CompactionWarning
from clausewise.compact.frontier import Frontier

__all__ = ["CompactionWarning", "Frontier"]
