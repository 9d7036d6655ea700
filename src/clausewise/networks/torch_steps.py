"""The kinds and names of the operations of a PyTorch module."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import torch
from torch import nn

from clausewise.networks.graph import Operation

Kind = Literal["weights", "same", "other", "no tensor"]
"""As in `graph.Operation`; "no tensor" for queries of a tensor (its size, its device)."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They apply learnt weights to the input, if one of the operands is learnt.
_PRODUCTS: Final = _words(
    """linear bilinear matmul mm bmm mv addmm addmv baddbmm einsum tensordot embedding embedding_bag
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution
    multi_head_attention_forward lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell"""
)
_SAME: Final = _words(
    """view reshape flatten unflatten ravel squeeze unsqueeze permute transpose t swapaxes swapdims movedim
    moveaxis contiguous clone detach to type float double half bfloat16 cpu cuda expand expand_as view_as
    reshape_as alias positive"""
)
_DROPOUTS: Final = _words(
    "dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout"
)
QUERIES: Final = _words(
    """size dim numel ndimension get_device is_floating_point getattr stride __len__ __get__ _assert
    _assert_is_none"""
)
"""Functions that describe a tensor and compute nothing from its numbers."""

_SAME_MODULES: Final = (
    nn.Identity,
    nn.Flatten,
    nn.Unflatten,
    nn.modules.dropout._DropoutNd,
)
# They have weights but treat every unit separately, as activations do.
_UNITWISE_MODULES: Final = (
    nn.modules.batchnorm._NormBase,
    nn.LayerNorm,
    nn.GroupNorm,
    nn.LocalResponseNorm,
    nn.PReLU,
    *([nn.RMSNorm] if hasattr(nn, "RMSNorm") else []),
)
_COMPOSITES: Final = (
    nn.Sequential,
    nn.ModuleList,
    nn.ModuleDict,
    nn.Transformer,
    nn.TransformerEncoder,
    nn.TransformerDecoder,
    nn.TransformerEncoderLayer,
    nn.TransformerDecoderLayer,
)
# The weights of quantised modules are not among their parameters.
_QUANTISED: Final = re.compile("Linear|Conv|LSTM|GRU|RNN|Embedding")

_EMBEDDINGS: Final = _words("Embedding EmbeddingBag embedding embedding_bag one_hot")
# They take a part of a tensor, or change its type.
_SELECTIONS: Final = _words("getitem select narrow chunk split unbind long int")

TuplePath = tuple[int, ...]
"""The indices that lead to a tensor in a nested tuple."""


@dataclass(frozen=True)
class Step:
    """One operation of a module.

    Attributes
    ----------
    operation : Operation
        The operation, under a unique key.
    title : str
        A readable name: `blocks.0.relu`, `gru.h`.
    does : str
        Name of the function or of the module's class: `relu`, `Linear`.
    is_state : bool
        Whether it is the final state of a recurrent layer.
    """

    operation: Operation
    title: str
    does: str
    is_state: bool = False


@dataclass(frozen=True)
class Wanted:
    """A tensor to collect: the step that computes it, and the step before which it is copied (else at once).

    The time matters, because an in-place operation changes the result of an earlier step.
    """

    key: str
    before: str | None = None


class Collection:
    """Collects wanted tensors while a module runs."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self._wanted = wanted
        self._made: dict[str, Any] = {}
        self._taken: dict[Wanted, Any] = {}
        self._keys = {one.key for one in wanted}
        self._readers = {one.before for one in wanted}

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to collect."""
        return len(self._taken) == len(self._wanted)

    @property
    def values(self) -> list[Any]:
        """The collected tensors, in the order of `wanted`."""
        return [self._taken[one] for one in self._wanted]

    def before(self, key: str) -> None:
        """Collect tensors before a step runs."""
        if key in self._readers:
            for one in self._wanted:
                if one.before == key:
                    self._taken[one] = _kept(self._made.pop(one.key))

    def made(self, key: str, value: Any) -> None:
        """Collect the result of a step."""
        if key in self._keys:
            for one in self._wanted:
                if one.key == key and one.before is None:
                    self._taken[one] = _kept(value)
                elif one.key == key:
                    self._made[key] = value


def _kept(value: Any) -> Any:
    """Return a copy, because the next step may change the tensor in place."""
    return value.clone() if torch.is_tensor(value) else value


class Program(Protocol):
    """The steps of a module, and access to the tensors between them.

    Attributes
    ----------
    steps : sequence of Step
        In the order of computation.
    output : str
        Key of the step that computes the output.
    inputs : sequence of str
        Keys of the inputs.
    """

    steps: Sequence[Step]
    output: str
    inputs: Sequence[str]

    def run(self, inputs: Sequence[torch.Tensor], wanted: Sequence[Wanted]) -> list[Any]:
        """Return a copy of each wanted tensor; other results of a step (a tuple) are not copied."""
        ...


def is_leaf(module: nn.Module) -> bool:
    """Return whether a module counts as one operation: PyTorch's own do, unless they contain layers."""
    is_own = type(module).__module__.startswith(("torch.nn", "torch.ao.nn"))
    return is_own and not isinstance(module, _COMPOSITES)


def module_kind(module: nn.Module) -> Kind:
    """Return the kind of operation of a leaf module."""
    if isinstance(module, _SAME_MODULES):
        return "same"
    if isinstance(module, _UNITWISE_MODULES):
        return "other"
    has_weights = any(True for _ in module.parameters()) or _QUANTISED.search(type(module).__name__)
    return "weights" if has_weights else "other"


def function_kind(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], reads_weights: bool) -> Kind:
    """Return the kind of operation of a function."""
    if name in QUERIES:
        is_view = name == "getattr" and len(args) > 1 and args[1] in ("T", "mT", "H", "mH", "data")
        return "same" if is_view else "no tensor"
    if name in _DROPOUTS:
        is_active = kwargs.get("training", args[2] if len(args) > 2 else True)
        return "other" if is_active else "same"
    if name in _SAME:
        return "same"
    return "weights" if name in _PRODUCTS and reads_weights else "other"


def function_name(function: Any) -> str:
    """Return the plain name: `relu` for F.relu, torch.relu, Tensor.relu_ and aten.relu.default."""
    name = function if isinstance(function, str) else getattr(function, "__name__", type(function).__name__)
    name = name.split(".")[0]
    if name.startswith("__") and name not in QUERIES:
        return name.strip("_")
    return name.rstrip("_") or name


def part_names(module: nn.Module | None) -> Mapping[TuplePath, str]:
    """Return the suffixes of the names of a module's results, for a module that returns several tensors."""
    if isinstance(module, nn.LSTM):
        return {(0,): ".h", (1, 0): ".h_n", (1, 1): ".c_n"}
    if isinstance(module, nn.RNNBase):
        return {(0,): ".h", (1,): ".h_n"}
    if isinstance(module, nn.LSTMCell):
        return {(0,): ".h", (1,): ".c"}
    if isinstance(module, nn.MultiheadAttention):
        return {(0,): "", (1,): ".weights"}
    return {}


def is_state(module: nn.Module | None, path: TuplePath) -> bool:
    """Return whether that part is the final state of a recurrent layer: layers × rows × units."""
    return isinstance(module, nn.RNNBase) and path[:1] == (1,)


def index_text(index: Any) -> str:
    """Return an index as Python code: `[:, -1]`."""
    parts = index if isinstance(index, tuple) else (index,)
    return f"[{', '.join(map(_one_index, parts))}]"


def _one_index(part: Any) -> str:
    if isinstance(part, slice):
        ends = ["" if end is None else str(end) for end in (part.start, part.stop, part.step)]
        return ":".join(ends[:2] if part.step is None else ends)
    return "..." if part is Ellipsis else str(part)


def tensors_in(value: Any, path: TuplePath = ()) -> Iterator[tuple[TuplePath, torch.Tensor]]:
    """Yield the tensors of a nested tuple, list or mapping, and their paths."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, Mapping):
        yield from tensors_in(list(value.values()), path)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from tensors_in(part, (*path, index))


def embedded_inputs(steps: Sequence[Step], inputs: Sequence[str]) -> list[int]:
    """Return the positions of the inputs whose numbers an embedding looks up, perhaps after a selection.

    Parameters
    ----------
    steps : sequence of Step
        The steps of the module.
    inputs : sequence of str
        The keys of the inputs in these steps.
    """
    made = {step.operation.name: step for step in steps}
    found = set()
    for step in steps:
        if step.does in _EMBEDDINGS:
            for name in step.operation.inputs:
                while name in made and _is_selection(made[name]):
                    name = made[name].operation.inputs[0]
                found.add(name)
    return [position for position, name in enumerate(inputs) if name in found]


def _is_selection(step: Step) -> bool:
    return step.operation.kind == "same" or step.does in _SELECTIONS
