"""PyTorch modules and skorch nets."""

import copy
import inspect
from collections.abc import Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from torch import nn

from clausewise.networks.calling import ONE_TENSOR, Calling, calling_of
from clausewise.networks.graph import InnerTensor, Operation, inner_tensors, last_operation, last_weights
from clausewise.networks.inputs import InputKey, Inputs, Rows, shapes_text
from clausewise.networks.layout import PROBE_SIZES, Layout, probe_rows
from clausewise.networks.naming import OutputKey, picked_output
from clausewise.networks.plain import PlainNetwork, UnsupportedLayerError
from clausewise.networks.protocol import OUTPUT, Axis, OutputForm, Structure, Tensor
from clausewise.networks.shapes import axes_of
from clausewise.networks.torch_modes import evaluating
from clausewise.networks.torch_plain import plain_of
from clausewise.networks.torch_record import RecordedProgram
from clausewise.networks.torch_steps import Program, Step, Wanted, embedded_inputs
from clausewise.networks.torch_trace import CannotTraceError, TracedProgram

# The meaning of the output by its last step; for a sigmoid it depends on the number of columns.
_FORMS: dict[str, OutputForm] = {
    "softmax": "probabilities",
    "Softmax": "probabilities",
    "log_softmax": "logits",
    "LogSoftmax": "logits",
    "linear": "logits",
    "Linear": "logits",
}
# Of more inputs than this, the others are taken for numbers: all combinations are tried.
_MAX_TRIED_INPUTS = 6
_SIGMOIDS = ("sigmoid", "Sigmoid")
_LOG_SIGMOIDS = ("logsigmoid", "log_sigmoid", "LogSigmoid")


class TorchBackend:
    """A `torch.nn.Module` in evaluation mode.

    Its steps are found by symbolic tracing or, if the module's code cannot be traced, recorded while it
    processes rows.

    Parameters
    ----------
    module : nn.Module
        Takes tensors, whose first axis is the rows, and returns class scores.
    device : optional
        The device to run on; by default that of the weights. On another device, a copy of the module runs.
    has_inputs : bool
        Whether rows come as `Inputs`, one array per tensor, rather than as one array.
    output_key : str or int, optional
        Which part of the module's result are the class scores.
    title, classes, output, threshold
        As in `NetworkBackend` and `Structure`, if the wrapper of the module (skorch) defines them.
    """

    def __init__(
        self,
        module: nn.Module,
        device: Any = None,
        *,
        has_inputs: bool = False,
        output_key: OutputKey = None,
        title: str | None = None,
        classes: Sequence[Any] | None = None,
        output: OutputForm | None = None,
        threshold: float = 0.5,
    ) -> None:
        module = _unwrapped(module)
        _check_module(module)
        if not has_inputs:
            _check_one_input(module)
        self.title = title or f"PyTorch module {type(module).__name__}"
        self.classes = classes
        self.feature_names: Sequence[str] | None = None
        self._module = _moved(module, device)
        self._output_form, self._threshold = output, threshold
        self.dtype: np.dtype[Any] = np.dtype(np.float64 if _dtype(module) == torch.float64 else np.float32)
        self._program: Program | None = None
        self._wanted: dict[str, Wanted] = {}
        self._layouts: dict[str, Layout] = {}
        self.n_inputs: int | None = None
        self._output_key = output_key
        # With several inputs, how the module is called is known when their names are.
        self._calling = None if has_inputs else ONE_TENSOR
        self._whole_numbers: frozenset[InputKey] = frozenset()
        self.category_inputs: frozenset[InputKey] = frozenset()
        if not has_inputs:
            with evaluating(self._module):
                program = self._traced(ONE_TENSOR)
            self._program, self.n_inputs = program, None if program is None else program.n_inputs

    def dtype_of(self, key: InputKey) -> np.dtype[Any]:
        """Return the type in which an input is read: whole numbers for an embedding, else doubles."""
        return np.dtype(np.int64 if key in self._whole_numbers else np.float64)

    def _traced(self, calling: Calling) -> TracedProgram | None:
        try:
            return TracedProgram(self._module, calling, self._output_key)
        except CannotTraceError:
            return None

    def inspect(self, rows: Rows | None) -> Structure | None:
        """Return the structure; rows are not needed if dense layers read the input."""
        if rows is not None:
            return self._inspected(rows)
        if self.n_inputs is None:
            return None
        try:
            some = np.random.default_rng(0).normal(size=(PROBE_SIZES[1], self.n_inputs))
            return self._inspected(some.astype(self.dtype))
        except ValueError:  # the module does not read vectors after all
            self.n_inputs = None
            return None

    def evaluate(self, rows: Rows, names: Sequence[str]) -> list[NDArray[Any]]:
        """Return the named tensors; the output is what the module itself returns."""
        inner = [name for name in names if name != OUTPUT]
        found: dict[str, NDArray[Any]] = {}
        with evaluating(self._module):
            if inner:
                assert self._program is not None
                values = self._program.run(self._tensors_of(rows), [self._wanted[name] for name in inner])
                for name, value in zip(inner, values, strict=True):
                    found[name] = self._layouts[name].rows_first(_array(value), len(rows))
            if OUTPUT in names:
                found[OUTPUT] = _array(self._scores(self._result(rows)))
        return [found[name] for name in names]

    def plain(self, n_inputs: int) -> PlainNetwork:
        """Return the layers in the form that proofs read."""
        program = self._program
        if not isinstance(program, TracedProgram):
            raise UnsupportedLayerError(
                f"{self.title} is not a feed-forward network whose layers can be traced from one table; "
                "proofs "
                "need modules and functions without conditions on values."
            )
        return plain_of(self.title, self._module, program, n_inputs, _dtype(self._module))

    def gradients(self, rows: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return for each row the gradient of its output times its weights, by automatic differentiation."""
        with evaluating(self._module), torch.enable_grad():
            inputs = self._tensor(rows, False).requires_grad_(True)
            scores = self._scores(self._module(inputs)).reshape(len(rows), -1)
            total = (scores * torch.as_tensor(weights).to(scores)).sum()
            (slopes,) = torch.autograd.grad(total, inputs)
        return _array(slopes).astype(np.float64)

    def _inspected(self, rows: Rows) -> Structure:
        small, large = (probe_rows(rows, size) for size in PROBE_SIZES)
        with evaluating(self._module):
            if isinstance(rows, Inputs):
                self._learn_inputs(rows)
            assert self._calling is not None
            self._first_result(small)
            output = self._scores(self._first_result(large))
            program = self._program
            if program is None or not self._agrees(program, large, output):
                probe = self._tensors_of(large)
                program = RecordedProgram(self._module, probe, self._calling, self._output_key)
            if isinstance(rows, Inputs):
                self.category_inputs = self._embedded(program)
            operations = [step.operation for step in program.steps]
            inner = inner_tensors(operations, program.output)
            wanted = [Wanted(one.name, one.reader) for one in inner]
            values = [program.run(self._tensors_of(probe), wanted) for probe in (small, large)]
        self._program = program
        tensors = self._tensors(inner, wanted, values)
        n_outputs = output.shape[1] if output.ndim > 1 else 1
        form = self._output_form or _form(program, operations, n_outputs)
        return Structure(tuple(tensors), n_outputs, form, self._threshold)

    def _learn_inputs(self, rows: Inputs) -> None:
        """Find out how the module is called with these inputs, and which of them its embeddings read."""
        title = f"{type(self._module).__name__}.forward"
        self._calling = calling_of(self._module.forward, title, rows.keys)
        self._program = program = self._traced(self._calling)
        given = {key for key, array in rows.arrays.items() if array.dtype.kind in "ib"}
        self._whole_numbers = frozenset(given if program is None else given | self._embedded(program))

    def _embedded(self, program: Program) -> frozenset[InputKey]:
        assert self._calling is not None
        places = embedded_inputs(program.steps, program.inputs)
        return frozenset(self._calling.keys[place] for place in places)

    def _agrees(self, program: Program, rows: Rows, output: torch.Tensor) -> bool:
        """Return whether the steps compute what the module itself returns.

        Tracing does not see a module's checks of types (`isinstance(state, tuple)`) and may then follow
        another branch than the module takes.
        """
        try:
            (found,) = program.run(self._tensors_of(rows), [Wanted(program.output)])
        except Exception:  # steps of the wrong branch may raise anything
            return False
        return (
            torch.is_tensor(found)
            and found.shape == output.shape
            and torch.allclose(found, output, atol=1e-4, equal_nan=True)
        )

    def _result(self, rows: Rows) -> Any:
        assert self._calling is not None
        args, kwargs = self._calling.arguments(self._tensors_of(rows))
        return self._module(*args, **kwargs)

    def _scores(self, result: Any) -> torch.Tensor:
        scores: torch.Tensor = picked_output(result, torch.is_tensor, self._output_key)
        return scores

    def _first_result(self, rows: Rows) -> Any:
        """Return the module's result for some rows; switches to whole numbers if the module reads these."""
        try:
            return self._result(rows)
        except Exception as error:  # the module's own code may raise anything on rows of the wrong shape
            if _wants_whole_numbers(error):
                if isinstance(rows, Inputs):
                    return self._result_of_whole_numbers(rows, error)
                if self.dtype.kind == "f":
                    self.dtype = np.dtype(np.int64)
                    return self._first_result(rows)
            raise self._failure(rows, error) from error

    def _result_of_whole_numbers(self, rows: Inputs, error: Exception) -> Any:
        """Return the module's result with the fewest inputs as whole numbers with which it runs.

        For modules that cannot be traced; the steps of others show what their embeddings read.
        """
        known = self._whole_numbers
        whole = [key for key, array in rows.arrays.items() if key not in known and _is_whole(array)]
        for size in range(1, len(whole) + 1):
            for chosen in combinations(whole[:_MAX_TRIED_INPUTS], size):
                self._whole_numbers = known | set(chosen)
                try:
                    return self._result(rows)
                except Exception as other:  # with the wrong inputs as whole numbers
                    error = other
        self._whole_numbers = known
        raise self._failure(rows, error) from error

    def _failure(self, rows: Rows, error: Exception) -> ValueError:
        return ValueError(
            f"{self.title} fails on rows of shape {shapes_text(rows)}: {str(error).rstrip('.')}. "
            "Pass rows like those it was trained on."
        )

    def _tensors(
        self, inner: Sequence[InnerTensor], wanted: Sequence[Wanted], values: Sequence[Sequence[Any]]
    ) -> list[Tensor]:
        """Return the tensors that have numbers for every row."""
        assert self._program is not None
        steps = {step.operation.name: step for step in self._program.steps}
        found = []
        for one, want, small, large in zip(inner, wanted, *values, strict=True):
            if not (torch.is_tensor(small) and torch.is_tensor(large) and large.is_floating_point()):
                continue
            layout = Layout.found(_array(small), _array(large))
            if layout is not None:
                step = steps[one.name]
                shape = layout.row_shape(tuple(large.shape))
                found.append(Tensor(step.title, shape, _axes(step, shape, steps), one.reader is not None))
                self._wanted[step.title], self._layouts[step.title] = want, layout
        return found

    def _tensors_of(self, rows: Rows) -> list[torch.Tensor]:
        """Return a copy of the rows on the device of the weights; a module may change it in place."""
        if not isinstance(rows, Inputs):
            return [self._tensor(rows, self.dtype.kind == "i")]
        return [self._tensor(array, key in self._whole_numbers) for key, array in rows.arrays.items()]

    def _tensor(self, array: NDArray[Any], is_whole: bool) -> torch.Tensor:
        where = next(chain(self._module.parameters(), self._module.buffers()), torch.empty(0)).device
        if array.dtype.kind == "b":  # a mask
            return torch.tensor(array).to(where)
        return torch.tensor(array).to(where, torch.int64 if is_whole else _dtype(self._module))


def _wants_whole_numbers(error: Exception) -> bool:
    """Return whether an embedding got floating-point numbers."""
    return "Long, Int" in str(error)


def _is_whole(array: NDArray[Any]) -> bool:
    return bool((array == np.floor(array)).all())


def skorch_backend(
    net: Any, device: Any = None, *, has_inputs: bool = False, output_key: OutputKey = None
) -> TorchBackend:
    """Return the adapter for the module of a fitted skorch net, with the net's classes and threshold."""
    if not getattr(net, "initialized_", False):
        raise NotFittedError(f"This {type(net).__name__} is not fitted yet; call fit first.")
    try:
        classes = np.asarray(net.classes_).tolist()
    except AttributeError:
        classes = None
    loss = type(net.criterion_).__name__
    # Before NLLLoss, skorch itself takes the logarithm of the probabilities that the module returns.
    forms: dict[str, OutputForm] = {
        "CrossEntropyLoss": "logits",
        "BCEWithLogitsLoss": "logits",
        "NLLLoss": "probabilities",
        "BCELoss": "probabilities",
        "MSELoss": "number",
        "L1Loss": "number",
        "SmoothL1Loss": "number",
        "HuberLoss": "number",
    }
    title = f"skorch {type(net).__name__} of {type(net.module_).__name__}"
    # Only a NeuralNetBinaryClassifier has one.
    threshold = float(getattr(net, "threshold", 0.5))
    return TorchBackend(
        net.module_,
        device,
        has_inputs=has_inputs,
        output_key=output_key,
        title=title,
        classes=classes,
        output=forms.get(loss),
        threshold=threshold,
    )


# --- The module itself ---


def _unwrapped(module: nn.Module) -> nn.Module:
    """Return the module inside wrappers that distribute or compile it."""
    while True:
        if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
            module = module.module
        elif isinstance(getattr(module, "_orig_mod", None), nn.Module):  # torch.compile
            module = module._orig_mod  # type: ignore[assignment]
        else:
            return module


def _check_module(module: nn.Module) -> None:
    if isinstance(module, torch.jit.ScriptModule):
        raise TypeError(
            "The layers of a TorchScript module cannot be read, because it runs outside Python; pass the "
            "nn.Module that it was made from, or export it to ONNX."
        )
    tensors = dict(chain(module.named_parameters(), module.named_buffers()))
    for name, tensor in tensors.items():
        if isinstance(tensor, nn.UninitializedParameter | nn.UninitializedBuffer):
            raise ValueError(
                f"The module was never used: {name!r} gets its shape from the first rows. Train it first."
            )
        if tensor.is_meta:
            raise ValueError(
                f"The weights have no values: {name!r} is on the 'meta' device. Load them first: "
                "module.to_empty(device='cpu'), then module.load_state_dict(…)."
            )


def _check_one_input(module: nn.Module) -> None:
    parameters = list(inspect.signature(module.forward).parameters.values())
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if len(needed) > 1:
        columns = ", ".join(f"{name!r}: […]" for name in needed)
        raise ValueError(
            f"{type(module).__name__}.forward takes {len(needed)} tensors ({', '.join(needed)}). Pass "
            f"inputs={{{columns}}} with the columns of each, or a function from rows to these tensors."
        )
    if not needed:
        raise ValueError(
            f"{type(module).__name__}.forward takes no tensor that it needs. Pass inputs= with the columns "
            "of those that it should get."
        )


def _moved(module: nn.Module, device: Any) -> nn.Module:
    """Return the module on the requested device; a copy, if the caller's module is on another device."""
    if device is None:
        return module
    try:
        where = torch.device(device)
        if all(_is_on(tensor, where) for tensor in chain(module.parameters(), module.buffers())):
            return module
        return copy.deepcopy(module).to(where)
    except (AssertionError, RuntimeError) as error:
        raise ValueError(f"device is {device!r}, on which the module cannot run: {error}") from error


def _is_on(tensor: torch.Tensor, where: torch.device) -> bool:
    return tensor.device.type == where.type and where.index in (None, tensor.device.index)


def _dtype(module: nn.Module) -> torch.dtype:
    tensors = chain(module.parameters(), module.buffers())
    return next((tensor.dtype for tensor in tensors if tensor.is_floating_point()), torch.float32)


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    if tensor.is_floating_point() and tensor.dtype != torch.float64:
        tensor = tensor.to(torch.float32)  # NumPy has no bfloat16
    return tensor.detach().cpu().numpy()


# --- Its steps ---


def _form(program: Program, operations: Sequence[Operation], n_outputs: int) -> OutputForm | None:
    last = last_operation(operations, program.output)
    does = next((step.does for step in program.steps if step.operation.name == last), "")
    if does in _SIGMOIDS:
        return "probabilities" if n_outputs == 1 else "sigmoids"
    if does in _LOG_SIGMOIDS and n_outputs > 1:
        return "logits"  # their softmax equals the sigmoids, scaled to sum to 1
    return _FORMS.get(does)


def _axes(step: Step, shape: tuple[int, ...], steps: dict[str, Step]) -> tuple[Axis, ...]:
    """Return the meaning of the axes: channels first after a convolution, otherwise units last."""
    if step.is_state:
        units: list[Axis] = ["unit"] * len(shape)
        return tuple(units)
    weights = last_weights([one.operation for one in steps.values()], step.operation.name)
    is_convolution = weights is not None and "conv" in steps[weights].does.lower()
    return ("channel", "position") if len(shape) == 2 and is_convolution else axes_of(shape)
