"""Folders that tests read: the repository, and ../shared (or $CLAUSEWISE_SHARED) with recorded data."""

from pathlib import Path

import pytest
from benchmarks._recorded import BENCH, MISSING, SHARED

__all__ = ["BENCH", "ROOT", "SHARED", "needs_bench"]

ROOT = Path(__file__).parents[1]
needs_bench = pytest.mark.skipif(not BENCH.is_dir(), reason=MISSING)
