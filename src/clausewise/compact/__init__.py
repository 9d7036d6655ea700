"""Small rule sets under a budget, and votes fitted to all rules."""

from clausewise.compact.compaction import CompactionWarning, compact, frontier
from clausewise.compact.fitted_votes import fit_votes
from clausewise.compact.frontier_curve import Frontier
from clausewise.compact.regression_compaction import compact_numbers, frontier_numbers
from clausewise.compact.synthetic_rows import SyntheticRows, synthetic_rows

__all__ = [
    "CompactionWarning",
    "Frontier",
    "SyntheticRows",
    "compact",
    "compact_numbers",
    "fit_votes",
    "frontier",
    "frontier_numbers",
    "synthetic_rows",
]
