"""How a model is called with several tensors."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from clausewise.networks.inputs import InputKey


@dataclass(frozen=True)
class Calling:
    """The arguments of a model's function: `forward` in PyTorch, `call` in Keras.

    Attributes
    ----------
    keys : tuple
        The inputs, in order.
    way : {"positions", "names", "mapping", "sequence"}
        Whether the function takes each of them by position or by name, or all in one dictionary or tuple.
    """

    keys: tuple[InputKey, ...]
    way: Literal["positions", "names", "mapping", "sequence"]

    def arguments(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of the function: positional ones, and those by name."""
        by_name = {str(key): value for key, value in zip(self.keys, values, strict=True)}
        match self.way:
            case "positions":
                return tuple(values), {}
            case "names":
                return (), by_name
            case "mapping":
                return (by_name,), {}
            case "sequence":
                return (tuple(values),), {}


ONE_TENSOR: Final = Calling((0,), "positions")
"""How a model with one input is called."""


def calling_of(
    function: Callable[..., Any], title: str, keys: tuple[InputKey, ...], options: Sequence[str] = ()
) -> Calling:
    """Return how to call a model with these inputs; raise a ValueError if it does not take them.

    Parameters
    ----------
    function : callable
        The method of the model that is called.
    title : str
        Its name in error messages.
    keys : tuple
        The inputs, by name or by position.
    options : sequence of str
        Names of arguments that are not tensors.
    """
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in options]
    kinds = {parameter.kind for parameter in parameters}
    plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = [p.name for p in plain if p.default is p.empty]
    by_position = [p.name for p in plain if p.kind is not p.KEYWORD_ONLY]
    takes = f"{title} takes {', '.join(p.name for p in plain) or 'nothing'}"
    if isinstance(keys[0], int):
        takes_any = inspect.Parameter.VAR_POSITIONAL in kinds
        if takes_any or len(needed) <= len(keys) <= len(by_position):
            return Calling(keys, "positions")
        if len(needed) <= 1 <= len(by_position):
            return Calling(keys, "sequence")
        raise ValueError(f"{takes}, but inputs= returns {len(keys)} arrays; return one for each.")
    names = {p.name for p in plain}
    takes_any = inspect.Parameter.VAR_KEYWORD in kinds
    unknown = [key for key in keys if key not in names]
    if not unknown or takes_any:
        missing = [name for name in needed if name not in keys]
        if missing:
            raise ValueError(f"{takes}, but inputs= has no {missing[0]!r}; add its columns.")
        return Calling(keys, "names")
    if len(needed) == 1 and len(unknown) == len(keys):
        return Calling(keys, "mapping")
    raise ValueError(
        f"{takes}, but inputs= has {unknown[0]!r}; use the names of its arguments, or the keys of the one "
        "dictionary that it takes."
    )
