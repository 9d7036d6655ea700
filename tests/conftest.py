"""Hypothesis profiles: the same inputs each time in `make test`, more and new ones in `make fuzz`."""

import os

from hypothesis import settings

# A shared machine may slow down any test at any time, so there are no deadlines.
settings.register_profile("test", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
