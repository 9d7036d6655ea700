"""Networks given as functions: for JAX, a remote service, or anything else without an adapter."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.base.parameters import (
    ARRAY_LIKE,
    NOTHING,
    Constraint,
    check_parameters,
    instance_of,
    whole,
)
from clausewise.data.rows import raw_rows
from clausewise.networks.network import Network
from clausewise.networks.outputs import OUTPUT_MEANING, Output
from clausewise.networks.preprocess import table_of
from clausewise.networks.protocol import OUTPUT, OutputForm, Structure, Tensor
from clausewise.networks.selection import LAYER_CHOICE
from clausewise.networks.shapes import axes_of

Function = Callable[[NDArray[Any]], Any]

_FUNCTION: Final = Constraint("a function of an array of rows", callable)
CALLABLE_OPTIONS: Final[Mapping[str, Constraint]] = {
    "predict": _FUNCTION,
    "layers": NOTHING | instance_of(Mapping, "a mapping from layer names to functions"),
    "classes": ARRAY_LIKE | NOTHING,
    "n_inputs": whole(1) | NOTHING,
    "use": LAYER_CHOICE,
    "output": OUTPUT_MEANING,
}


class _FunctionBackend:
    def __init__(
        self,
        predict: Function,
        layers: Mapping[str, Function],
        classes: Sequence[Any] | None,
        n_inputs: int | None,
        output: Output,
    ) -> None:
        self.title = f"function {getattr(predict, '__name__', type(predict).__name__)}"
        self.n_inputs = n_inputs
        self.classes = classes
        self.feature_names: Sequence[str] | None = None
        self.dtype = np.dtype(np.float64)
        self._predict, self._layers = predict, dict(layers)
        # One value per row is a label, unless the caller states otherwise.
        self._may_be_labels = output is None or (isinstance(output, str) and output == "labels")
        self._code_of = None if classes is None else {label: code for code, label in enumerate(classes)}

    def inspect(self, rows: NDArray[Any] | None) -> Structure | None:
        if rows is None:
            return None
        tensors = []
        for name in self._layers:
            shape = self._called(name, self._layers[name], rows).shape[1:]
            tensors.append(Tensor(name, shape, axes_of(shape)))
        answer = self._called("predict", self._predict, rows)
        form: OutputForm | None = "labels" if self._is_labels(answer) else None
        return Structure(tuple(tensors), 1 if answer.ndim == 1 else answer.shape[1], form)

    def evaluate(self, rows: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        return [self._output(rows) if n == OUTPUT else self._called(n, self._layers[n], rows) for n in names]

    def _output(self, rows: NDArray[Any]) -> NDArray[Any]:
        answer = self._called("predict", self._predict, rows)
        return self._codes(answer) if self._is_labels(answer) else answer

    def _is_labels(self, answer: NDArray[Any]) -> bool:
        return self._may_be_labels and answer.ndim == 1

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int32]:
        """Return the labels that `predict` returned as positions in the classes."""
        if self._code_of is None:
            raise ValueError(
                "predict returns one label per row; pass classes= with all labels that it may return, or let "
                "it return one column of probabilities per class."
            )
        unknown = [label for label in np.unique(labels).tolist() if label not in self._code_of]
        if unknown:
            raise ValueError(f"predict returned the label {unknown[0]!r}, which is not one of the classes.")
        return np.array([self._code_of[label] for label in labels.tolist()], dtype=np.int32)

    def _called(self, name: str, function: Function, rows: NDArray[Any]) -> NDArray[Any]:
        values = np.asarray(function(rows))
        if values.ndim == 0 or len(values) != len(rows):
            raise ValueError(
                f"{name!r} returned an array of shape {values.shape} for {len(rows)} rows; expected one "
                "entry per row."
            )
        return values


class CallableNetwork(Network):
    """A network given as functions of its rows.

    Parameters
    ----------
    predict : callable
        Maps an array of rows to one label per row, or to one column per class: probabilities or, with
        `output="logits"`, logits. With `output=` other than "labels", one number per row is one column.
        A DataFrame with columns that are not numbers is passed on as a DataFrame, to `layers` as well; with
        `features=`, so are texts and lists.
    layers : mapping of str to callable, optional
        For each hidden layer, in the order of computation, a function from rows to its activations. Without
        layers, only methods that do not read hidden layers can be used.
    classes : array-like, optional
        The class labels; required if `predict` returns labels.
    n_inputs : int, optional
        Number of columns that the functions read; checked if given.
    use : optional
        The layers to use, as `layers` of `clausewise.wrap`.
    output, **options
        As in `clausewise.wrap`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.networks import CallableNetwork
    >>> network = CallableNetwork(
    ...     predict=lambda X: np.where(X[:, 0] > X[:, 1], "first", "second"),
    ...     layers={"difference": lambda X: X[:, :1] - X[:, 1:]},
    ...     classes=["first", "second"],
    ... )
    >>> network.labels(np.array([[2.0, 1.0], [0.0, 3.0]])).tolist()
    ['first', 'second']
    """

    @property
    def is_function(self) -> bool:
        """True: these are functions, perhaps a remote service, of which it is unknown what a call costs."""
        return True

    def __init__(
        self,
        predict: Function,
        layers: Mapping[str, Function] | None = None,
        *,
        classes: ArrayLike | None = None,
        n_inputs: int | None = None,
        use: Any = None,
        output: Output = None,
        **options: Any,
    ) -> None:
        given = {
            "predict": predict,
            "layers": layers,
            "classes": classes,
            "n_inputs": n_inputs,
            "use": use,
            "output": output,
        }
        check_parameters(CALLABLE_OPTIONS, given)
        listed = {} if layers is None else dict(layers)
        for name, function in listed.items():
            check_parameters({f"layers[{name!r}]": _FUNCTION}, {f"layers[{name!r}]": function})
        known = None if classes is None else list(np.asarray(classes).tolist())
        backend = _FunctionBackend(predict, listed, known, n_inputs, output)
        super().__init__(backend, layers=use, classes=classes, output=output, **options)

    def _read(self, rows: Any) -> Any:
        """Return rows as numbers or, if they are not numbers, the table or the texts that were passed."""
        if self.computes_features and self._transform is None:
            raw = raw_rows(rows)
            if isinstance(raw, np.ndarray) and raw.dtype.kind in "OUS":
                return raw
        table = table_of(rows, self.feature_names if self._transform is None else None)
        return super()._read(rows) if table is None else table
