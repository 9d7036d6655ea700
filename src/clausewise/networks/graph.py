"""Which tensors of a computation graph are hidden representations."""

from collections.abc import Sequence
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


@dataclass(frozen=True)
class InnerTensor:
    """A tensor that learnt weights have worked on and the output depends on.

    Attributes
    ----------
    name : str
        As of the operation that makes it.
    reader : str or None
        The first operation with learnt weights that reads it, perhaps in another shape. None if there is
        none, so that it is no hidden representation.
    """

    name: str
    reader: str | None


def inner_tensors(operations: Sequence[Operation], output: str) -> tuple[InnerTensor, ...]:
    """What lies between a network's input and its output, in the order of computation.

    The hidden representations among them are the tensors that learnt weights read. That is what a layer hands
    to the next one: the activation after a dense layer, the sum after a residual branch, the concatenation of
    two branches. Left out are the network's input, also when it was only reshaped or scaled, what the output
    does not depend on, and the output itself. A tensor that is only reshaped stands for all its shapes.
    """
    made = {operation.name: operation for operation in operations}
    needed = _ancestors(output, made)
    behind_weights: set[str] = set()
    for operation in operations:
        if operation.kind == "weights" or behind_weights.intersection(operation.inputs):
            behind_weights.add(operation.name)
    readers: dict[str, str] = {}
    for operation in operations:
        if operation.kind == "weights" and operation.name in needed:
            for tensor in operation.inputs:
                if tensor in behind_weights:
                    readers.setdefault(_unchanged_source(tensor, made), operation.name)
    listed = (behind_weights & needed) - {_unchanged_source(output, made)}
    return tuple(
        InnerTensor(operation.name, readers.get(operation.name))
        for operation in operations
        if operation.name in readers or (operation.name in listed and operation.kind != "same")
    )


def last_operation(operations: Sequence[Operation], output: str) -> str:
    """The operation whose numbers the output is, perhaps in another shape."""
    return _unchanged_source(output, {operation.name: operation for operation in operations})


def last_weights(operations: Sequence[Operation], name: str) -> str | None:
    """The last operation with learnt weights on the way to a tensor, along first inputs."""
    made = {operation.name: operation for operation in operations}
    while name in made and made[name].kind != "weights":
        inside = [source for source in made[name].inputs if source in made]
        name = inside[0] if inside else ""
    return name if name in made else None


def _unchanged_source(tensor: str, made: dict[str, Operation]) -> str:
    """The tensor whose numbers this one repeats."""
    while tensor in made and made[tensor].kind == "same" and made[tensor].inputs:
        tensor = made[tensor].inputs[0]
    return tensor


def _ancestors(output: str, made: dict[str, Operation]) -> set[str]:
    """The output and everything that it depends on."""
    found: set[str] = set()
    open_tensors = [output]
    while open_tensors:
        tensor = open_tensors.pop()
        if tensor in made and tensor not in found:
            found.add(tensor)
            open_tensors.extend(made[tensor].inputs)
    return found
