"""A trained network: from rows to classes, probabilities and hidden activations."""

import copy
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from clausewise.base import html
from clausewise.base.parameters import ARRAY_LIKE, NOTHING, Constraint, check_parameters, one_of, whole
from clausewise.data.computed import COLUMN_MAKER, ComputedColumns
from clausewise.data.features import Features, require_finite
from clausewise.data.rows import take_rows
from clausewise.data.table import Matrix, unmasked
from clausewise.networks.inputs import (
    INPUTS,
    InputChoice,
    InputKey,
    InputReader,
    Inputs,
    row_shape,
    shapes_text,
)
from clausewise.networks.locks import lock_of
from clausewise.networks.outputs import OUTPUT_MEANING, Output, OutputReader, cut_labels, is_number, read_as
from clausewise.networks.plain import CalledNetwork, PlainNetwork, UnsupportedLayerError
from clausewise.networks.plain_inputs import PlainModel, plain_inputs
from clausewise.networks.preprocess import (
    PREPROCESS,
    InputColumn,
    Preprocess,
    as_numbers,
    as_transform,
    categorical_sources,
    columns_of,
    count_rows,
    first_step,
    rows_of,
    trace_inputs,
)
from clausewise.networks.protocol import OUTPUT, Layer, NetworkBackend, Structure, Tensor
from clausewise.networks.selection import LAYER_CHOICE, LayerChoice, select_layers
from clausewise.networks.shapes import REDUCE, Reduction, column_names, n_columns, reduction_of, to_columns

# Size of the widest tensor in one batch: 16 MB in single precision.
_NUMBERS_PER_BATCH = 2**22
_MAX_ROWS_PER_BATCH = 16_384
_ROWS_TO_INSPECT = 4
# Rows that a network answers twice: of 128 rows, some show dropout of 1 % of a few units.
_ROWS_TO_REPEAT = 128
# Activations that `run` keeps: 64 MB in single precision.
_NUMBERS_KEPT = 2**24
DEFAULT_MAX_UNITS = 20_000

NETWORK_OPTIONS: Final[Mapping[str, Constraint]] = {
    "layers": LAYER_CHOICE,
    "preprocess": PREPROCESS,
    "inputs": INPUTS,
    "features": COLUMN_MAKER | NOTHING,
    "classes": ARRAY_LIKE | NOTHING,
    "feature_names": ARRAY_LIKE | NOTHING,
    "batch_size": whole(1) | one_of("auto"),
    "output": OUTPUT_MEANING,
    "reduce": REDUCE,
    "max_units": whole(1),
}


@dataclass(frozen=True)
class _Source:
    """A selected tensor and how it becomes columns."""

    tensor: Tensor
    reduction: Reduction

    @property
    def n_columns(self) -> int:
        return n_columns(self.tensor, self.reduction)


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """The results of one pass of a network over some rows; made by `Network.run`.

    Attributes
    ----------
    codes : ndarray of int32, of shape (n_rows,)
        The position of each row's class in `Network.classes`.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        The probability of each class, if asked for.
    layers : tuple of Layer
        Activations of hidden layers, if asked for.
    """

    codes: NDArray[np.int32]
    probabilities: NDArray[np.float64] | None
    layers: tuple[Layer, ...]


@dataclass(frozen=True, eq=False)
class NumberRun:
    """The results of one pass of a regression network over some rows; made by `Network.run_numbers`.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, n_outputs)
        The network's estimates.
    layers : tuple of Layer
        Activations of hidden layers, if asked for.
    """

    numbers: NDArray[np.float64]
    layers: tuple[Layer, ...]


class Network:
    """A trained network as extractors use it; made by `clausewise.wrap`.

    Parameters
    ----------
    backend : NetworkBackend
        The adapter for the network's framework.
    layers, preprocess, inputs, features, classes, feature_names, batch_size, output, reduce, max_units
        As in `clausewise.wrap`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise.networks import ArrayNetwork
    >>> weights, biases = [np.eye(2), [[1, -1], [-1, 1]]], [np.zeros(2), np.zeros(2)]
    >>> network = ArrayNetwork(weights, biases, classes=["good", "bad"])  # or clausewise.wrap(model)
    >>> print(network)
    network of 2 dense layers: 2 inputs → 2 classes (good, bad), output logits
      layer     shape  columns  used
      hidden 1  2      2        yes
    >>> X = np.array([[6.0, 2.0], [1.0, 3.0]])
    >>> network.labels(X).tolist(), network.probabilities(X).round(2).tolist()
    (['good', 'bad'], [[1.0, 0.0], [0.02, 0.98]])
    >>> [layer.matrix.tolist() for layer in network.hidden_layers(X)]
    [[[6.0, 2.0], [1.0, 3.0]]]
    """

    def __init__(
        self,
        backend: NetworkBackend,
        *,
        layers: LayerChoice = None,
        preprocess: Preprocess = None,
        inputs: InputChoice = None,
        features: Any = None,
        classes: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        batch_size: int | Literal["auto"] = "auto",
        output: Output = None,
        reduce: Reduction | Mapping[str, Reduction] = "flatten",
        max_units: int = DEFAULT_MAX_UNITS,
    ) -> None:
        options = {
            "layers": layers,
            "preprocess": preprocess,
            "inputs": inputs,
            "features": features,
            "classes": classes,
            "feature_names": feature_names,
            "batch_size": batch_size,
            "output": output,
            "reduce": reduce,
            "max_units": max_units,
        }
        check_parameters(NETWORK_OPTIONS, options)
        self._backend = backend
        self._layers = layers
        self._preprocess = preprocess
        self._transform = None if preprocess is None else as_transform(preprocess)
        self._input_reader = None if inputs is None else InputReader(inputs)
        if inputs is not None and not hasattr(backend, "dtype_of"):
            raise ValueError(
                f"{backend.title} reads one table; inputs= is for PyTorch and Keras models. Pass preprocess= "
                "with a function from the rows to that table."
            )
        self._stated_classes = None if classes is None else _class_labels(classes)
        is_direct = preprocess is None
        own_names = (
            backend.feature_names if is_direct else getattr(first_step(preprocess), "feature_names_in_", None)
        )
        self._computed: ComputedColumns | None = None
        self._known_features: Features | None = None
        if features is not None:
            stated = None if feature_names is None else tuple(map(str, feature_names))
            self._computed, feature_names = ComputedColumns(features, stated), None
        names = own_names if feature_names is None else feature_names
        self.feature_names = None if names is None else tuple(map(str, names))
        self._batch_size = batch_size
        self._output = output
        self._reduce = reduce
        self._max_units = max_units
        self._structure = backend.inspect(None)
        self._reader: OutputReader | None = None
        # The shape of one input row, or of each input, known after the first rows.
        self._row_shape: tuple[Any, ...] | None = None
        if self._structure is not None:
            self._check_structure()

    # --- Description ---

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels, in the order of the network's outputs."""
        if self._reader is None:
            known = self._backend.classes if self._stated_classes is None else self._stated_classes
            if self._estimates_numbers:
                read_as(self._output, "number", np.empty((0, 1)))  # raises an error that says what to do
            if known is None:
                raise ValueError(_NEEDS_ROWS.format("the classes"))
            return _class_labels(known)
        return self._classes

    @property
    def _classes(self) -> NDArray[Any]:
        assert self._reader is not None
        known = self._backend.classes if self._stated_classes is None else self._stated_classes
        n_classes = self._reader.n_classes
        if known is None and self._reader.cut_points:
            known = cut_labels(self._reader.cut_points)
        labels = _class_labels(range(n_classes or 0) if known is None else known)
        if n_classes is not None and len(labels) != n_classes:
            raise ValueError(
                f"classes has {len(labels)} labels ({_shortened(labels.tolist())}), but the network's output "
                f"has {self._reader.n_columns} column(s), which means {n_classes} classes."
            )
        return labels

    @property
    def has_probabilities(self) -> bool:
        """Whether the output says how probable classes are; False for labels alone."""
        return self._reader is None or self._reader.form != "labels"

    def estimates_numbers(self, X: Any) -> bool:
        """Return whether the output is known to be numbers, not classes."""
        self._seen(X)
        return self._estimates_numbers

    def may_estimate_numbers(self, X: Any) -> bool:
        """Return whether the output may be numbers: it is stated or known, or is a plain linear output."""
        self._seen(X)
        return self._estimates_numbers or (
            self._output is None and self._known_structure.output in (None, "logits")
        )

    @property
    def _estimates_numbers(self) -> bool:
        return is_number(self._output, None if self._structure is None else self._structure.output)

    @property
    def layer_names(self) -> tuple[str, ...]:
        """Names of the layers in use, in the order of computation."""
        return tuple(source.tensor.name for source in self._sources)

    def select_layers(self, layers: LayerChoice) -> tuple[str, ...]:
        """Return the names of the chosen layers; those in use for None."""
        return tuple(source.tensor.name for source in self._sources_of(layers))

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors that can be selected as layers."""
        return self._known_structure.tensors

    @property
    def n_inputs(self) -> int | None:
        """Number of input columns, after preprocessing; None if rows are not vectors."""
        return self._backend.n_inputs

    def inspect(self, X: Any) -> "Network":
        """Evaluate a few rows to find out classes and layers that the model does not define; return self."""
        X, n_rows = self._seen(X)
        if self._reader is None and not self._estimates_numbers:
            first = next(iter(self._batches(n_rows)))
            self._reader_for(self._evaluate(X, first, (), (), with_output=True)[0])
        return self

    @property
    def is_function(self) -> bool:
        """Whether this is a function, perhaps a remote service, of which it is unknown what a call costs."""
        return False

    @property
    def computes_features(self) -> bool:
        """Whether rules are written over columns that `features=` computes, beside what the network reads."""
        return self._computed is not None

    def input_columns(self, X: Any) -> tuple[InputColumn, ...] | None:
        """Return the raw columns that each input column is computed from; None if unknown."""
        if self._computed is not None:
            return None
        names = Features.learn(X, names=self._names_for(X)).names
        if self._input_reader is None:
            return trace_inputs(self._preprocess, names)
        read = None if self._preprocess is not None else self._input_reader.columns_read(names)
        if read is None:
            return None
        encoded = self._embedded_columns(X, names)
        return tuple(InputColumn((name,), name in encoded) for name in read)

    def differentiable(self, X: Any) -> PlainModel:
        """Return a model whose gradients are known: by its layers as for `plain`, or by its framework.

        Raises an `UnsupportedLayerError` for any other model.
        """
        try:
            return self.plain(X)
        except UnsupportedLayerError:
            is_table = self._computed is None and self._input_reader is None
            if not is_table or not hasattr(self._backend, "gradients") or self._backend.dtype.kind != "f":
                raise
        backend, structure = self._backend, self._known_structure
        few = self._inputs(X, slice(0, 1))
        if few.ndim != 2:
            raise UnsupportedLayerError(f"{backend.title} reads no table.")

        def call(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            values = backend.evaluate(rows.astype(backend.dtype), [OUTPUT])[0]
            return values.reshape(len(rows), -1).astype(np.float64)

        def differentiate(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
            return backend.gradients(rows.astype(backend.dtype), weights)  # type: ignore[no-any-return]

        sizes = (few.shape[1], structure.n_outputs)
        network = CalledNetwork(
            few.shape[1], (), sizes, backend.dtype, call=call, differentiate=differentiate
        )
        return self._plain_model(X, network)

    def plain(self, X: Any) -> PlainModel:
        """Return the layers, the preprocessing and the reader of the output, in the form that proofs read.

        Raises an `UnsupportedLayerError` for a model that is not a feed-forward network of supported layers.
        """
        if self._computed is not None or self._input_reader is not None:
            how = "features=" if self._computed is not None else "inputs="
            raise UnsupportedLayerError(
                f"{self._backend.title} was wrapped with {how}; proofs need a network that reads one table."
            )
        if not hasattr(self._backend, "plain"):
            raise UnsupportedLayerError(
                f"{self._backend.title} is not a feed-forward network whose layers can be read; proofs need "
                "a "
                "PyTorch, Keras, ONNX or scikit-learn network, or an ArrayNetwork. `challenge` takes any "
                "model."
            )
        self.inspect(X)
        few = self._inputs(X, slice(0, min(count_rows(X), _ROWS_TO_REPEAT)))
        if few.ndim != 2:
            raise UnsupportedLayerError(f"{self._backend.title} reads no table; proofs need one.")
        network = self._backend.plain(few.shape[1])
        _check_plain(self._backend, network, few)
        return self._plain_model(X, network)

    def _plain_model(self, X: Any, network: PlainNetwork) -> PlainModel:
        """Return a network with its preprocessing and the reader of its output."""
        assert self._reader is not None
        names = Features.learn(X, names=self._names_for(X)).names
        by_name = None if self._preprocess is not None else self.feature_names
        order = by_name if by_name is not None and set(by_name) <= set(names) else names
        inputs = plain_inputs(self._preprocess, names, order, network.n_inputs)
        return PlainModel(network, inputs, self._reader, tuple(names))

    def features(self, X: Any) -> Features:
        """Return the columns over which rules are written: the raw ones, or those that `features=` computes.

        As found by `Features.learn`, but a column that a one-hot or ordinal encoder reads, or an embedding of
        a model with several inputs, is categorical even if it contains numbers.
        """
        return self._features(X, X if self._computed is None else self._computed.table(X))

    def with_features(self, features: Features) -> "Network":
        """Return the network with known columns, where `features` would learn them from too few rows."""
        known = copy.copy(self)
        known._known_features = features
        return known

    def feature_table(self, X: Any) -> tuple[Features, Matrix]:
        """Return the columns over which rules are written, and the rows encoded as these columns."""
        if self._computed is None:
            features = self.features(X)
            return features, features.encode(X)
        table = self._computed.table(X)
        features = self._features(X, table)
        matrix = replace(features, source=None).encode(table)
        require_finite(matrix, features)
        return features, matrix

    def _features(self, X: Any, table: Any) -> Features:
        if self._known_features is not None:
            return self._known_features
        if self._computed is not None:
            return Features.of_computed(self._computed, table)
        names = self._names_for(X)
        learnt = Features.learn(X, names=names)
        encoded = categorical_sources(trace_inputs(self._preprocess, learnt.names))
        encoded += [name for name in self._embedded_columns(X, learnt.names) if name not in encoded]
        return Features.learn(X, categorical=encoded, names=names) if encoded else learnt

    def reads(self, X: Any) -> NDArray[np.bool_]:
        """Return for each column of `features(X)` whether the network reads it; True if unknown.

        A table may have columns that preprocessing drops, or that are not among the network's feature names.
        """
        if self._computed is not None:
            return np.ones(len(self.features(X)), dtype=np.bool_)
        names = Features.learn(X, names=self._names_for(X)).names
        used: Collection[str] | None
        if self._input_reader is not None:
            used = None if self._preprocess is not None else self._input_reader.columns_read(names)
        elif self._preprocess is not None:
            inputs = trace_inputs(self._preprocess, names)
            used = None if inputs is None else {source for column in inputs for source in column.sources}
        else:
            used = None if self.feature_names is None else set(self.feature_names)
            # Some libraries change names that they cannot store; such a model reads columns by position.
            used = used if used is not None and used <= set(names) else None
        return np.array([used is None or name in used for name in names], dtype=np.bool_)

    # --- Answers ---

    def outputs(self, X: Any) -> NDArray[Any]:
        """Return the network's raw output, one row per row of X."""
        X, n_rows = self._seen(X)
        batches = self._batches(n_rows)
        return np.concatenate([self._evaluate(X, rows, (), (), with_output=True)[0] for rows in batches])

    def run(
        self, X: Any, *, hidden: bool = True, layers: LayerChoice = None, probabilities: bool = True
    ) -> NetworkRun:
        """Evaluate the network once per batch of rows, for all requested results.

        Parameters
        ----------
        X : array or DataFrame
            Raw rows, before `preprocess`.
        hidden : bool, default True
            Whether to keep the activations of the first hidden layers, as many as fit into 64 MB.
            `hidden_layers` computes the others.
        layers : optional
            Other layers than those chosen when wrapping.
        probabilities : bool, default True
            Whether to keep the probabilities of the classes.
        """
        X, n_rows = self._seen(X)
        kept = self._kept_sources(n_rows, layers) if hidden else []
        matrices = _empty_matrices(kept, n_rows)
        codes, outputs = [], []
        for rows in self._batches(n_rows):
            (output,) = self._evaluate(X, rows, kept, matrices, with_output=True)
            reader = self._reader_for(output)
            values = reader.read(output)
            codes.append(self._checked_codes(reader.codes(values)))
            if probabilities:
                outputs.append(values)
        # Only now are all classes known of a function that returns labels.
        of_classes = [reader.probabilities(values, len(self.classes)) for values in outputs]
        return NetworkRun(
            np.concatenate(codes),
            np.concatenate(of_classes) if probabilities else None,
            tuple(_as_layers(kept, matrices)),
        )

    def run_numbers(self, X: Any, *, hidden: bool = False, layers: LayerChoice = None) -> NumberRun:
        """Evaluate a regression network once per batch of rows; the parameters are those of `run`."""
        X, n_rows = self._seen(X)
        kept = self._kept_sources(n_rows, layers) if hidden else []
        matrices = _empty_matrices(kept, n_rows)
        outputs = []
        for rows in self._batches(n_rows):
            (output,) = self._evaluate(X, rows, kept, matrices, with_output=True)
            outputs.append(_as_number_columns(output))
        return NumberRun(np.concatenate(outputs), tuple(_as_layers(kept, matrices)))

    def numbers(self, X: Any) -> NDArray[np.float64]:
        """Return the estimates of a regression network, of shape (n_rows, n_outputs)."""
        return self.run_numbers(X).numbers

    def codes(self, X: Any) -> NDArray[np.int32]:
        """Return the class of each row, as a position in `classes`."""
        return self.run(X, hidden=False, probabilities=False).codes

    def labels(self, X: Any) -> NDArray[Any]:
        """Return the predicted class label of each row."""
        codes = self.codes(X)
        return self.classes[codes]

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row, with columns in the order of `classes`."""
        found = self.run(X, hidden=False).probabilities
        assert found is not None
        return found

    def has_hidden_layers(self, X: Any) -> bool:
        """Return whether layers are in use; a few rows are evaluated if that is not known yet."""
        self._seen(X)
        return bool(self._sources)

    def check_hidden_layers(self, X: Any, layers: LayerChoice = None) -> None:
        """Raise a ValueError unless the network has these hidden layers (at least one)."""
        self._seen(X)
        self._hidden_sources(layers)

    def hidden_layers(self, X: Any, layers: LayerChoice = None) -> Iterator[Layer]:
        """Yield the activations of the hidden layers, one layer at a time.

        Consecutive layers are computed in one pass if together they are not larger than the largest layer, so
        no more memory is used than for that layer.

        Parameters
        ----------
        X : array or DataFrame
            Raw rows, before `preprocess`.
        layers : optional
            Other layers than those chosen when wrapping.
        """
        X, n_rows = self._seen(X)
        return self._layer_by_layer(X, n_rows, self._hidden_sources(layers))

    # --- Internals ---

    def _hidden_sources(self, layers: LayerChoice) -> tuple[_Source, ...]:
        """Return the chosen layers; raise a ValueError if there are none."""
        sources = self._sources_of(layers)
        if not sources:
            raise ValueError(
                f"{self._backend.title} has no hidden layer, so there is nothing inside to read rules from; "
                "use the pedagogical method, which learns rules from the network's labels alone, or "
                "clausewise.extract, which chooses the method by the model."
            )
        return sources

    def _kept_sources(self, n_rows: int, layers: LayerChoice) -> list[_Source]:
        """Return the first hidden layers, as many as may be kept in memory."""
        kept: list[_Source] = []
        n_numbers = 0
        for source in self._hidden_sources(layers):
            n_numbers += source.n_columns * n_rows
            if n_numbers > _NUMBERS_KEPT:
                break
            kept.append(source)
        return kept

    def _layer_by_layer(self, X: Any, n_rows: int, sources: Sequence[_Source]) -> Iterator[Layer]:
        for group in _groups(sources):
            matrices = _empty_matrices(group, n_rows)
            for rows in self._batches(n_rows):
                self._evaluate(X, rows, group, matrices)
            yield from _as_layers(group, matrices)

    def _evaluate(
        self,
        X: Any,
        rows: slice,
        sources: Sequence[_Source],
        matrices: Sequence[NDArray[np.float32]],
        *,
        with_output: bool = False,
    ) -> list[NDArray[Any]]:
        """Run one forward pass over a batch: fill in the layers' rows, and return the output if requested."""
        inputs = self._inputs(X, rows)
        names = [source.tensor.name for source in sources]
        values = self._backend.evaluate(inputs, [OUTPUT, *names] if with_output else names)
        outputs = [values[0]] if with_output else []
        for output in outputs:
            _check_output(output, count_rows(inputs))
        for source, matrix, activations in zip(sources, matrices, values[len(outputs) :], strict=True):
            matrix[rows] = to_columns(activations, source.tensor, source.reduction)
        return outputs

    def _reader_for(self, output: NDArray[Any]) -> OutputReader:
        """Return the reader of outputs; it is chosen on the first batch, by the values in it."""
        with lock_of(self):
            if self._reader is None:
                structure = self._known_structure
                self._reader = read_as(self._output, structure.output, output, structure.threshold)
            return self._reader

    def _checked_codes(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        n_classes = len(self.classes)
        if codes.min() < 0 or codes.max() >= n_classes:
            raise ValueError(
                f"The network's output has class positions {codes.min()} to {codes.max()}, but there are "
                f"{n_classes} classes; pass all of them as classes=."
            )
        return codes

    @property
    def _known_structure(self) -> Structure:
        if self._structure is None:
            raise ValueError(_NEEDS_ROWS.format("the layers"))
        return self._structure

    @property
    def _sources(self) -> tuple[_Source, ...]:
        return self._chosen(self._layers)

    def _sources_of(self, layers: LayerChoice) -> tuple[_Source, ...]:
        return self._sources if layers is None else self._chosen(layers)

    def _chosen(self, layers: LayerChoice) -> tuple[_Source, ...]:
        chosen = select_layers(self._known_structure.tensors, layers)
        sources = tuple(_Source(tensor, reduction_of(tensor, self._reduce)) for tensor in chosen)
        for source in sources:
            if source.n_columns == 0:
                raise ValueError(
                    f"Layer {source.tensor.name!r} of shape {source.tensor.shape} has no units; choose other "
                    "layers with layers=, or use the pedagogical method, which reads none."
                )
            if source.n_columns > self._max_units:
                raise ValueError(
                    f"Layer {source.tensor.name!r} of shape {source.tensor.shape} has "
                    f"{source.n_columns:,} columns with reduce={source.reduction!r}, more than "
                    f"max_units={self._max_units:,}; pass reduce='mean', 'max' or 'last', omit the layer, "
                    "or increase max_units."
                )
        return sources

    def _check_structure(self) -> None:
        """Raise early for unknown layers and layers that are too wide."""
        known = {tensor.name for tensor in self.tensors}
        unknown = set(self._reduce) - known if isinstance(self._reduce, Mapping) else set()
        if unknown:
            raise ValueError(
                f"reduce has the key {sorted(unknown)[0]!r}, which is not a layer; the layers are "
                f"{_shortened(sorted(known))}."
            )
        self._chosen(self._layers)

    def _seen(self, X: Any) -> tuple[Any, int]:
        """Inspect the network on its first rows; return the rows without a mask, and their number."""
        X = unmasked(X)
        n_rows = count_rows(X)
        if n_rows == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        with lock_of(self):
            self._see(X, n_rows)
        return X, n_rows

    def _see(self, X: Any, n_rows: int) -> None:
        """Inspect the network once, and check that it answers every row by itself and always alike."""
        if self._row_shape is None:
            few = self._inputs(X, slice(0, min(n_rows, _ROWS_TO_INSPECT)))
            if self._structure is None:
                self._structure = self._backend.inspect(few)
                if self._structure is None:
                    raise ValueError(f"{self._backend.title} could not be inspected.")
                self._check_structure()
            n_asked = min(n_rows, _ROWS_TO_REPEAT, self._rows_per_batch)
            some, last = (self._inputs(X, slice(first, n_asked)) for first in (0, n_asked - 1))
            _check_answers(self._backend, some, last)
            self._row_shape = row_shape(few)

    def _names_for(self, X: Any) -> Sequence[str] | None:
        """Return the network's feature names for a table without column names."""
        has_names = hasattr(X, "columns") or hasattr(X, "column_names")
        return None if has_names else self.feature_names

    def _embedded_columns(self, X: Any, names: Sequence[str]) -> list[str]:
        """Return the columns that embeddings read; the order of their numbers means nothing."""
        if self._input_reader is None or self._preprocess is not None:
            return []
        self._seen(X)
        keys = [key for key in getattr(self._backend, "category_inputs", ()) if isinstance(key, str)]
        return self._input_reader.columns_read(names, sorted(keys)) or []

    def _inputs(self, X: Any, rows: slice) -> Any:
        """Return these rows as the network reads them, checked."""
        inputs = self._read_rows(X, rows)
        n_inputs = self._backend.n_inputs
        if n_inputs is not None and (len(inputs.shape) != 2 or inputs.shape[1] != n_inputs):
            found = f"{inputs.shape[1]} columns" if len(inputs.shape) == 2 else f"shape {inputs.shape}"
            raise ValueError(
                f"X has {found}{' after preprocessing' if self._transform else ''}, but the network reads "
                f"{n_inputs}; pass the columns that it was trained on."
            )
        if self._row_shape is not None and row_shape(inputs) != self._row_shape:
            raise ValueError(
                f"X has rows of shape {shapes_text(inputs)}, but earlier rows had shape {self._row_shape}; "
                "pass rows of one shape."
            )
        arrays = inputs.arrays.items() if isinstance(inputs, Inputs) else [(None, inputs)]
        for key, array in arrays:
            self._check_finite(array, rows.start, key)
        return inputs

    def _read_rows(self, X: Any, rows: slice) -> Any:
        """Return these rows after preprocessing, in the form that the network reads."""
        part = rows_of(X, rows)
        return self._read(part if self._transform is None else self._transform(part))

    def _read(self, rows: Any) -> Any:
        """Return preprocessed rows as numbers, or as several arrays of numbers."""
        names = self.feature_names if self._transform is None else None
        if self._input_reader is not None:
            return self._input_reader.read(rows, names, self._backend.dtype_of)  # type: ignore[attr-defined]
        return as_numbers(columns_of(rows, names), self._backend.dtype)

    def _check_finite(self, inputs: Any, first_row: int, key: InputKey | None = None) -> None:
        # Only functions may read tables and texts; missing values in these are theirs to handle.
        if not isinstance(inputs, np.ndarray) or inputs.dtype.kind in "OUS" or np.isfinite(inputs).all():
            return
        bad = ~np.isfinite(inputs)
        first = np.argwhere(bad)[0]
        where = "X" if key is None else f"The input {key!r}"
        raise ValueError(
            f"{where} contains NaN or infinity{' after preprocessing' if self._transform else ''}: "
            f"{int(bad.sum()):,} value(s), the first in row {first_row + first[0]}, column "
            f"{', '.join(map(str, first[1:]))}; fill missing values in, or pass preprocess= with an imputer."
        )

    @property
    def _rows_per_batch(self) -> int:
        if self._batch_size != "auto":
            return self._batch_size
        widest = max((math.prod(tensor.shape) for tensor in self._known_structure.tensors), default=1)
        widest = max(widest, self._known_structure.n_outputs, self._backend.n_inputs or 1)
        return max(1, min(_MAX_ROWS_PER_BATCH, _NUMBERS_PER_BATCH // widest))

    def _batches(self, n_rows: int) -> Iterator[slice]:
        step = self._rows_per_batch
        for start in range(0, n_rows, step):
            yield slice(start, min(start + step, n_rows))

    def __sklearn_clone__(self) -> "Network":
        # A trained network never changes, so scikit-learn's clones of an estimator share it.
        return self

    def __repr__(self) -> str:
        return f"<Network: {self._backend.title}>"

    def __str__(self) -> str:
        lines = [self._headline()]
        if self._structure is None:
            return "\n".join([*lines, "  layers: not known yet, call network.inspect(X) with some rows"])
        table = [_LAYER_TABLE, *self._layer_rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
        if not self._sources:
            lines.append("  no hidden layer")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if self._structure is None:
            unknown = html.note("layers: not known yet, call network.inspect(X) with some rows")
            return html.block(self._headline(), unknown)
        none = "" if self._sources else html.note("no hidden layer")
        return html.block(self._headline(), html.table(_LAYER_TABLE, self._layer_rows()), none)

    def _layer_rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield a row of text per tensor: name, shape, number of columns, and whether it is used."""
        used = {source.tensor.name for source in self._sources}
        for tensor in self.tensors:
            reduction = reduction_of(tensor, self._reduce)
            how = "" if len(tensor.shape) == 1 else f" ({reduction})"
            shape = " × ".join(map(str, tensor.shape)) or "1"
            columns = f"{n_columns(tensor, reduction):,}{how}"
            yield tensor.name, shape, columns, "yes" if tensor.name in used else "no"

    def _headline(self) -> str:
        inputs = f"{self.n_inputs:,} inputs" if self.n_inputs is not None else "inputs of any shape"
        inputs = inputs if self._input_reader is None else str(self._input_reader)
        after = " (after preprocessing)" if self._transform is not None else ""
        if self._estimates_numbers:
            n_outputs = self._known_structure.n_outputs if self._structure is not None else 1
            of_what = "a number" if n_outputs == 1 else f"{n_outputs} numbers"
            return f"{self._backend.title}: {inputs}{after} → {of_what}"
        try:
            labels = self.classes.tolist()
            classes = f"{len(labels)} classes ({_shortened(labels)})"
        except ValueError:
            classes = "classes not known yet"
        form = None if self._structure is None else self._structure.output
        form = self._reader.form if self._reader is not None else form
        how = "" if form is None else f", output {form}"
        beside = "" if self._computed is None else f"; rules test columns of {self._computed.title}"
        return f"{self._backend.title}: {inputs}{after} → {classes}{how}{beside}"


_LAYER_TABLE = ("layer", "shape", "columns", "used")
_NEEDS_ROWS = "This network does not define {} by itself; call network.inspect(X) with some rows first."


def _empty_matrices(sources: Sequence[_Source], n_rows: int) -> list[NDArray[np.float32]]:
    return [np.empty((n_rows, source.n_columns), np.float32, order="F") for source in sources]


def _as_layers(sources: Sequence[_Source], matrices: list[NDArray[np.float32]]) -> Iterator[Layer]:
    """Yield layers with checked activations, without keeping references to them."""
    for position, source in enumerate(sources):
        _check_activations(matrices[position], source.tensor.name)
    for source in sources:
        names = column_names(source.tensor, source.reduction)
        yield Layer(source.tensor.name, matrices.pop(0), names)


def _groups(sources: Sequence[_Source]) -> list[list[_Source]]:
    """Group consecutive layers, each group at most as wide as the widest layer."""
    widest = max(source.n_columns for source in sources)
    groups: list[list[_Source]] = []
    for source in sources:
        if groups and sum(other.n_columns for other in groups[-1]) + source.n_columns <= widest:
            groups[-1].append(source)
        else:
            groups.append([source])
    return groups


def _check_plain(backend: NetworkBackend, network: PlainNetwork, rows: NDArray[Any]) -> None:
    """Raise an UnsupportedLayerError if the layers that were read do not compute what the network does."""
    expected = _checked_output(backend, rows).reshape(len(rows), -1)
    found = network.outputs(rows)
    if network.softmax:
        found = (softmax if network.softmax == "softmax" else log_softmax)(found, axis=1)
    if found.shape != expected.shape or _differ(expected, found, 0.001 * np.abs(expected).max(initial=1e-6)):
        raise UnsupportedLayerError(
            f"{backend.title} does not compute what its layers do when they are read one by one; proofs "
            "about it "
            "are not possible."
        )


def _check_answers(backend: NetworkBackend, rows: NDArray[Any], last: NDArray[Any]) -> None:
    """Raise a ValueError if the output for a row depends on chance, or on the other rows."""
    backwards = np.arange(count_rows(rows))[::-1]
    turned_rows = rows[backwards] if isinstance(rows, Inputs) else take_rows(rows, backwards)
    first, turned, alone = (_checked_output(backend, part) for part in (rows, turned_rows, last))
    turned = turned[::-1]
    largest = np.abs(first).max(initial=0.0, where=np.isfinite(first))
    # On some devices sums are not always taken in the same order. The scale of an 8-bit network may
    # depend on the batch, but not on the order of its rows.
    rounding, scaling = 0.001 * largest, 0.02 * largest
    if _differ(first, turned, rounding) and _differ(first, _checked_output(backend, rows), rounding):
        raise ValueError(
            f"{backend.title} gives different outputs for the same rows when they are evaluated again, so it "
            "answers at random; rules need one output per row. Is dropout or noise still switched on?"
        )
    if _differ(first, turned, rounding) or _differ(first[-1:], alone, scaling):
        raise ValueError(
            f"{backend.title} gives different outputs for the same row, depending on the other rows; rules "
            "need one output per row. Is the first axis of its input the rows (batch_first)?"
        )


def _checked_output(backend: NetworkBackend, rows: NDArray[Any]) -> NDArray[Any]:
    output = backend.evaluate(rows, [OUTPUT])[0]
    _check_output(output, count_rows(rows))
    return output


def _differ(outputs: NDArray[Any], others: NDArray[Any], tolerance: float) -> bool:
    return not np.allclose(outputs, others, rtol=0, atol=tolerance)


def _class_labels(classes: Any) -> NDArray[Any]:
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"classes has shape {labels.shape}; expected a list of class labels.")
    if len(set(labels.tolist())) != len(labels):
        raise ValueError(f"classes contains a label twice: {_shortened(labels.tolist())}.")
    return labels


def _check_activations(matrix: NDArray[np.float32], name: str) -> None:
    # The sum is cheap to check; it is not finite if a number is not, or if finite numbers overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(matrix)
    if bad.any():
        raise ValueError(
            f"Layer {name!r} is NaN or infinite for {int(bad.sum()):,} of {bad.size:,} activations, in "
            f"{int(bad.any(axis=1).sum()):,} of {len(bad):,} rows; check the network's weights and inputs "
            "for overflow."
        )


def _check_output(values: NDArray[Any], n_rows: int) -> None:
    if values.ndim == 0 or len(values) != n_rows:
        raise ValueError(
            f"The network's output has shape {values.shape} for {n_rows} rows; expected one row of class "
            "scores per row of X."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"The network's output is of type {values.dtype}; expected numbers.")
    # The logarithm of a probability of 0 is -inf, but not all classes can have probability 0.
    numbers = values.reshape(len(values), -1)
    if values.dtype.kind != "f" or np.isfinite(numbers).all():
        return
    is_impossible = (numbers == -np.inf).all(axis=1) & (numbers.shape[1] > 1)
    is_bad = (np.isnan(numbers) | (numbers == np.inf)).any(axis=1) | is_impossible
    if is_bad.any():
        raise ValueError(
            f"The network's output is NaN or infinite for {int(is_bad.sum()):,} of {len(values):,} rows of a "
            "batch; check its weights and inputs for overflow."
        )


def _as_number_columns(output: NDArray[Any]) -> NDArray[np.float64]:
    """Return the output of some rows as one column per number."""
    if output.ndim > 2:
        raise ValueError(
            f"The network's output has shape {output.shape}; rules that add numbers need one number, or one "
            "row of numbers, per row of X."
        )
    columns = output.astype(np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if not np.isfinite(columns).all():
        raise ValueError("The network's output is NaN or infinite for some rows; check its inputs.")
    return columns


def _shortened(labels: Sequence[Any], most: int = 6) -> str:
    shown = ", ".join(map(str, labels[:most]))
    return f"{shown}, …" if len(labels) > most else shown
