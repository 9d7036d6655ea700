"""How many threads the kernels may use."""

import os

VARIABLE = "CLAUSEWISE_NUM_THREADS"
MAX_THREADS = 256


def usable_cores() -> int:
    """The cores this process may run on, which in a container can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`: itself, or for `None` and -1 as many as there are.

    That is CLAUSEWISE_NUM_THREADS if set and otherwise every usable core; results do not depend on it. More
    than MAX_THREADS are never started.
    """
    if n_jobs is None or n_jobs == -1:
        return _from_environment() or usable_cores()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs < 1:
        raise ValueError(
            f"n_jobs is {n_jobs!r}; pass None or -1 for all usable cores, or a number of threads."
        )
    return min(int(n_jobs), MAX_THREADS)


def _from_environment() -> int | None:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f"{VARIABLE} is {text!r}; set it to a positive number of threads or unset it.")
    return int(text)
