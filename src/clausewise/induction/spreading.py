"""Independent fits on other machines, by the backend that joblib is told to use."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

T = TypeVar("T")
_OF_THIS_MACHINE = "joblib._parallel_backends"


def n_workers_elsewhere() -> int:
    """Return the number of workers of the active backend; 0 if it works on this machine.

    Here the core's own threads are faster, since they share the prepared table.
    """
    backend, _ = get_active_backend()
    return 0 if type(backend).__module__ == _OF_THIS_MACHINE else int(effective_n_jobs(-1))


def spread(function: Callable[..., T], parts: Iterable[tuple[Any, ...]], *shared: Any) -> Iterator[T]:
    """Iterate over `function(*part, *shared)` for each part, computed by the workers, in order.

    A shared array is its own argument, so that a backend can send it to each worker once.
    """
    backend, _ = get_active_backend()
    return_as = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    calls = (delayed(function)(*part, *shared) for part in parts)
    yield from Parallel(n_jobs=-1, return_as=return_as, batch_size=1)(calls)
