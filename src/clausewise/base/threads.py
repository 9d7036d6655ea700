"""How many threads the kernels may use."""

import os

from clausewise.base.parameters import JOBS, check_parameters

VARIABLE = "CLAUSEWISE_NUM_THREADS"
MAX_THREADS = 256


def usable_cores() -> int:
    """Count the cores this process may run on; in a container, there can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`, at most MAX_THREADS.

    None and -1 mean CLAUSEWISE_NUM_THREADS if it is set, otherwise every usable core. Results do not depend
    on the number of threads.
    """
    if n_jobs is None or n_jobs == -1:
        return _from_environment() or usable_cores()
    check_parameters({"n_jobs": JOBS}, {"n_jobs": n_jobs})
    return min(int(n_jobs), MAX_THREADS)


def _from_environment() -> int | None:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f"{VARIABLE} is {text!r}; set it to a positive number of threads or unset it.")
    return int(text)
