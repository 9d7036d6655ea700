"""Small weighted rule sets under a budget."""

from clausewise.compact.compaction import CompactionWarning, compact, frontier
from clausewise.compact.frontier_curve import Frontier

__all__ = ["CompactionWarning", "Frontier", "compact", "frontier"]
