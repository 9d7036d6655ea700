"""Which tensors of a computation graph are hidden representations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Operation:
    """One operation of a network.

    Attributes
    ----------
    name : str
        Of the tensor that it makes.
    inputs : tuple of str
        The tensors that it reads; constants and weights left out.
    kind : {"weights", "same", "other"}
        "weights": learnt weights meet the input (dense, convolutional, recurrent, attention, embedding).
        "same": the numbers of its first input, perhaps in another shape (flatten, dropout when evaluating).
        "other": anything else (activations, sums, concatenations, normalisation, pooling).
    """

    name: str
    inputs: tuple[str, ...]
    kind: Literal["weights", "same", "other"]


def hidden_tensors(operations: Sequence[Operation], outputs: Iterable[str]) -> tuple[str, ...]:
    """The tensors that learnt weights read, in the order of computation.

    That is what a layer hands to the next one: the activation after a dense layer, the sum after a residual
    branch, the concatenation of two branches. Left out are the network's input, also when it was only
    reshaped or scaled, and what the output does not depend on. A tensor that is only reshaped stands for all
    its shapes.
    """
    made = {operation.name: operation for operation in operations}
    needed = _ancestors(outputs, made)
    behind_weights: set[str] = set()
    for operation in operations:
        if operation.kind == "weights" or behind_weights.intersection(operation.inputs):
            behind_weights.add(operation.name)
    read = {
        _unchanged_source(tensor, made)
        for operation in operations
        if operation.kind == "weights" and operation.name in needed
        for tensor in operation.inputs
        if tensor in behind_weights
    }
    return tuple(operation.name for operation in operations if operation.name in read)


def _unchanged_source(tensor: str, made: dict[str, Operation]) -> str:
    """The tensor whose numbers this one repeats."""
    while made[tensor].kind == "same" and made[tensor].inputs and made[tensor].inputs[0] in made:
        tensor = made[tensor].inputs[0]
    return tensor


def _ancestors(outputs: Iterable[str], made: dict[str, Operation]) -> set[str]:
    found: set[str] = set()
    open_tensors = list(outputs)
    while open_tensors:
        tensor = open_tensors.pop()
        if tensor in made and tensor not in found:
            found.add(tensor)
            open_tensors.extend(made[tensor].inputs)
    return found
