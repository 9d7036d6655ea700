"""Finding the hidden representations in a computation graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Operation:
    """One operation of a network.

    Attributes
    ----------
    name : str
        Name of the tensor that it computes.
    inputs : tuple of str
        The tensors that it reads, without constants and weights.
    kind : {"weights", "same", "other"}
        "weights": applies learnt weights to the input (dense, convolutional, recurrent, attention,
        embedding).
        "same": the numbers of its first input, perhaps reshaped (flatten, dropout in evaluation).
        "other": anything else (activations, sums, concatenations, normalisation, pooling).
    """

    name: str
    inputs: tuple[str, ...]
    kind: Literal["weights", "same", "other"]


@dataclass(frozen=True)
class InnerTensor:
    """A tensor between the network's first learnt weights and its output.

    Attributes
    ----------
    name : str
        Name of the operation that computes it.
    reader : str or None
        The first operation with learnt weights that reads it, perhaps reshaped; None if there is none, and
        the tensor is not a hidden representation.
    """

    name: str
    reader: str | None


def inner_tensors(operations: Sequence[Operation], output: str) -> tuple[InnerTensor, ...]:
    """Return the tensors between a network's input and its output, in the order of computation.

    Those that learnt weights read are the hidden representations. That is what one layer passes to the next:
    the activation after a dense layer, the sum after a residual branch, the concatenation of two branches.
    The input (also reshaped or scaled), the output, and tensors that the output does not depend on are
    excluded. A tensor and its reshaped copies count once.
    """
    made = {operation.name: operation for operation in operations}
    needed = _ancestors(output, made)
    after_weights: set[str] = set()
    for operation in operations:
        if operation.kind == "weights" or after_weights.intersection(operation.inputs):
            after_weights.add(operation.name)
    readers: dict[str, str] = {}
    for operation in operations:
        if operation.kind == "weights" and operation.name in needed:
            for tensor in operation.inputs:
                if tensor in after_weights:
                    readers.setdefault(_unchanged_source(tensor, made), operation.name)
    listed = (after_weights & needed) - {_unchanged_source(output, made)}
    return tuple(
        InnerTensor(operation.name, readers.get(operation.name))
        for operation in operations
        if operation.name in readers or (operation.name in listed and operation.kind != "same")
    )


def last_operation(operations: Sequence[Operation], output: str) -> str:
    """Return the operation that computes the numbers of the output, ignoring reshapes."""
    return _unchanged_source(output, {operation.name: operation for operation in operations})


def last_weights(operations: Sequence[Operation], name: str) -> str | None:
    """Return the last operation with learnt weights before a tensor, along first inputs; None without one."""
    made = {operation.name: operation for operation in operations}
    while name in made and made[name].kind != "weights":
        inside = [source for source in made[name].inputs if source in made]
        name = inside[0] if inside else ""
    return name if name in made else None


def _unchanged_source(tensor: str, made: dict[str, Operation]) -> str:
    """Return the tensor that has the same numbers, before any reshape."""
    while tensor in made and made[tensor].kind == "same" and made[tensor].inputs:
        tensor = made[tensor].inputs[0]
    return tensor


def _ancestors(output: str, made: dict[str, Operation]) -> set[str]:
    """Return the output and everything that it depends on."""
    found: set[str] = set()
    open_tensors = [output]
    while open_tensors:
        tensor = open_tensors.pop()
        if tensor in made and tensor not in found:
            found.add(tensor)
            open_tensors.extend(made[tensor].inputs)
    return found
