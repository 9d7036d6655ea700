"""How hypothesis runs: the same inputs each time in `make test`, ever new and more ones in `make fuzz`."""

import os

from hypothesis import settings

# A shared machine may hold a test up at any time, so none has a deadline.
settings.register_profile("test", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
