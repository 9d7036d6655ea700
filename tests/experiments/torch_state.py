"""Restore torch's global state after training; other tests expect its defaults."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_as_it_was() -> Iterator[None]:
    """Restore the random state, the number of threads and the choice of algorithms afterwards."""
    threads = torch.get_num_threads()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)
