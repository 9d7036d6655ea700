"""Profiles of Hypothesis (new inputs in `make fuzz`, the same in `make test`), Keras, order of the tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Decided before Keras is imported.
os.environ.setdefault("KERAS_BACKEND", "torch")
# Tests run in one process per core, where threads of OpenMP (PyTorch, scikit-learn) only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A shared machine may slow down any test at any time, so there are no deadlines.
settings.register_profile("test", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

# What takes longest: browsers, then extractions, the command line, frameworks, documentation that is run,
# clusters, and files that start many processes or threads. Short files come last, so that all processes end
# together.
_LONG = (
    "report",
    "extractors",
    "cli",
    "networks",
    "experiments",
    "test_docs.py",
    "induction",
    "compact",
    "fuzz",
    "partitions",
    "test_concurrency.py",
    "export",
    "test_examples.py",
    "test_lazy_imports.py",
    "test_demo.py",
    "test_mutation.py",
    "io",
    "plots",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders that take longest, so that at the end no process waits for another."""
    rank = {name: place for place, name in enumerate(_LONG)}
    here = Path(__file__).parent
    items.sort(key=lambda item: rank.get(item.path.relative_to(here).parts[0], len(rank)))


@pytest.fixture
def few_in_memory(monkeypatch):
    """Take tables of some thousand rows for large ones, so that all steps of the streamed way are taken."""
    from clausewise.analysis import regression_evaluation
    from clausewise.compact import all_rows, compaction, regression_compaction
    from clausewise.extractors import partitioned, partitioned_numbers

    for module in (compaction, regression_compaction, partitioned, partitioned_numbers):
        monkeypatch.setattr(module, "FEW_ROWS", 5_000)
    monkeypatch.setattr(regression_evaluation, "_FEW_ROWS", 5_000)
    for name, value in {"FIRST_ROWS": 2_000, "LAST_ROWS": 8_000, "HELD_OUT_ROWS": 2_000}.items():
        monkeypatch.setattr(all_rows, name, value)
