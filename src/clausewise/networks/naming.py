"""Readable names for the tensors of a network, and finding the class scores among its results."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any


class Titles:
    """Readable, unique names: `relu`, `relu (2)`."""

    def __init__(self) -> None:
        self._n_given: Counter[str] = Counter()

    def new(self, title: str) -> str:
        """Return the name, numbered from its second use on."""
        self._n_given[title] += 1
        number = self._n_given[title]
        return title if number == 1 else self.new(f"{title} ({number})")


def inside(scope: str, name: str) -> str:
    """Return the name of a function called in a module."""
    return f"{scope}.{name}" if scope else name


def picked_output(result: Any, is_tensor: Callable[[Any], bool]) -> Any:
    """Return the class scores in a model's result: the only tensor, or the one named `logits`."""
    if is_tensor(result):
        return result
    listed: dict[Any, Any] = {}
    if isinstance(result, Mapping):
        listed = dict(result)
    elif isinstance(result, list | tuple):
        listed = dict(enumerate(result))
    if "logits" in listed:
        return picked_output(listed["logits"], is_tensor)
    if len(listed) == 1:
        return picked_output(next(iter(listed.values())), is_tensor)
    what = f"{type(result).__name__} with {', '.join(map(str, listed))}" if listed else type(result).__name__
    raise ValueError(
        f"The model returns a {what}; one tensor of class scores is needed. Wrap the model in one that "
        "returns only the scores."
    )
