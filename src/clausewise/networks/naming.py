"""Readable names for the tensors of a network, and finding the class scores among its results."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from clausewise.base.parameters import NOTHING, TEXT, whole


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


OutputKey = str | int | None
"""The values of `output_key=`: the name or position of the class scores in a model's result."""

OUTPUT_KEY: Final = NOTHING | TEXT | whole(0)


def picked_output(result: Any, is_tensor: Callable[[Any], bool], key: OutputKey = None) -> Any:
    """Return the class scores in a model's result: the chosen or only tensor, or the one named `logits`."""
    if is_tensor(result):
        return result
    listed = _listed(result)
    if key is not None:
        if key not in listed:
            raise ValueError(
                f"output_key is {key!r}, but the model returns a {_described(result, listed)}; choose one of "
                "these."
            )
        return picked_output(listed[key], is_tensor)
    if "logits" in listed:
        return picked_output(listed["logits"], is_tensor)
    if len(listed) == 1:
        return picked_output(next(iter(listed.values())), is_tensor)
    raise ValueError(
        f"The model returns a {_described(result, listed)}; one tensor of class scores is needed. Pass "
        "output_key= with the name or position of the scores."
    )


def _listed(result: Any) -> dict[Any, Any]:
    """Return the parts of a result by name or position; a named tuple has both."""
    if isinstance(result, Mapping):
        return dict(result)
    if isinstance(result, list | tuple):
        names = dict(zip(getattr(result, "_fields", ()), result, strict=False))
        return {**dict(enumerate(result)), **names}
    if is_dataclass(result):
        return {one.name: getattr(result, one.name) for one in fields(result)}
    return {}


def _described(result: Any, listed: Mapping[Any, Any]) -> str:
    kind = type(result).__name__
    return f"{kind} with {', '.join(map(str, listed))}" if listed else kind
