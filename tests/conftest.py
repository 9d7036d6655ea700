"""Hypothesis profiles (new inputs in `make fuzz`, the same in `make test`), and Keras on PyTorch."""

import os

from hypothesis import settings

# Decided before Keras is imported.
os.environ.setdefault("KERAS_BACKEND", "torch")
# A shared machine may slow down any test at any time, so there are no deadlines.
settings.register_profile("test", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
