"""Wrapping a trained model as a `Network`, importing only the framework that it needs."""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline

from clausewise.base.parameters import check_parameters
from clausewise.networks.estimators import EstimatorPredictor, FunctionPredictor
from clausewise.networks.inputs import InputChoice
from clausewise.networks.naming import OUTPUT_KEY, OutputKey
from clausewise.networks.network import DEFAULT_MAX_UNITS, Network
from clausewise.networks.outputs import Output
from clausewise.networks.predictions import (
    Predictor,
    PredictorBackend,
    PredictorNetwork,
    UnsupportedModelError,
)
from clausewise.networks.preprocess import Preprocess
from clausewise.networks.protocol import NetworkBackend
from clausewise.networks.selection import LayerChoice
from clausewise.networks.shapes import Reduction
from clausewise.networks.sklearn import mlp_backend, predicts_its_own_way

# Boosters without scikit-learn's interface, which have adapters of their own.
_BOOSTERS = (("xgboost", "Booster"), ("lightgbm", "Booster"), ("catboost", "CatBoost"))

SUPPORTED = (
    "a trained classifier or regressor (anything with predict or predict_proba), a function from rows to "
    "labels, probabilities or numbers, a neural network (torch.nn.Module, Keras 3 model, ONNX model, "
    "scikit-learn's MLPClassifier or MLPRegressor, skorch net), or a .keras or .onnx file"
)


def wrap(
    model: Any,
    *,
    layers: LayerChoice = None,
    preprocess: Preprocess = None,
    inputs: InputChoice = None,
    features: Any = None,
    classes: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    batch_size: int | Literal["auto"] = "auto",
    device: Any = None,
    output: Output = None,
    output_key: OutputKey = None,
    reduce: Reduction | Mapping[str, Reduction] = "flatten",
    max_units: int = DEFAULT_MAX_UNITS,
) -> Network:
    """Return a trained model as a `Network`: its classes, predictions and hidden activations.

    Parameters
    ----------
    model : object or path
        Anything with `predict` or `predict_proba`, such as scikit-learn's estimators, pipelines and searches,
        or a model or booster of XGBoost, LightGBM or CatBoost; a function from rows to labels or to one
        column of probabilities per class; or a `Network`. Hidden layers are read from a `torch.nn.Module`, a
        Keras 3 model or a `.keras` file, an ONNX model or an `.onnx` file, scikit-learn's `MLPClassifier` and
        `MLPRegressor`, a fitted skorch net, and a `Pipeline` or search that ends in one of these. Nothing in
        a file is executed.
    layers : optional
        The hidden layers to use: names, positions, "every 2", "last 3"; by default all. A name may also be
        that of any other tensor in the printed summary.
    preprocess : transformer, callable or list of these, optional
        Maps raw rows to the rows that the network reads: an object with `transform`, or a function. Rules are
        then written over the raw columns. The steps of a Pipeline before the model are applied after it.
    inputs : mapping of str to columns, or callable, optional
        For a PyTorch or Keras model with several inputs, the columns (names or positions, after `preprocess`)
        of each: `{"numeric": ["age", "income"], "codes": ["region"]}`, with the names of forward's arguments,
        of the Keras inputs, or of the keys of the one dictionary that the model takes. A list of columns
        becomes a tensor of shape (n_rows, n_columns), a single column one of shape (n_rows,), and columns
        that an embedding reads become whole numbers. Or a function from rows to a tuple, a dictionary or one
        array, whose types are kept.
    features : transformer or callable, optional
        Computes readable columns from the rows, for a model whose rows are not a table: series, images, text.
        A fitted transformer or a function that returns a DataFrame, or an array (with the names that
        `get_feature_names_out` gives, or `feature_names`). Rules are then written over these columns, and the
        model still reads the rows; see `clausewise.features`.
    classes : array-like, optional
        The class labels in the order of the outputs; by default those of the model, or 0, 1, … For a function
        that returns labels, all labels that it may return; by default those that it gives to the first rows.
    feature_names : sequence of str, optional
        Names of the raw columns, for rows without column names, or of the columns of `features`.
    batch_size : int or "auto"
        Number of rows that are evaluated at once.
    device : optional
        The device to run a torch model on, such as "cuda"; by default that of its weights.
    output : {"logits", "probabilities", "sigmoids", "labels", "number"}, sequence or callable, optional
        The meaning of the output, if it is not recognised: "logits" or "probabilities" (a single column is
        for the second class), "sigmoids" (an independent probability per class), "labels" (positions of
        classes), or "number" (what `RuleRegressor` imitates). Ascending cut points turn the estimate of a
        regression network into classes. A function from outputs to one column of probabilities per class
        covers all other cases.
    output_key : str or int, optional
        Which part of the result of a PyTorch or Keras model are the class scores, if it is a dictionary (a
        name) or a tuple (a position); by default the only part, or the one named `logits`.
    reduce : {"flatten", "mean", "max", "last"} or mapping of layer names to these
        How activations with positions (convolution) or time steps (recurrence) become columns.
    max_units : int
        Raise an error for a layer with more columns than this.

    Returns
    -------
    Network
        Print it to see its layers.

    Examples
    --------
    >>> import clausewise
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neural_network import MLPClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MLPClassifier((8, 4), max_iter=2000, random_state=0).fit(X, y)
    >>> print(clausewise.wrap(model))
    scikit-learn MLPClassifier: 4 inputs → 3 classes (0, 1, 2), output logits
      layer     shape  columns  used
      hidden 1  8      8        yes
      hidden 2  4      4        yes
    """
    options: dict[str, Any] = {
        "layers": layers,
        "features": features,
        "classes": classes,
        "feature_names": feature_names,
        "batch_size": batch_size,
        "output": output,
        "reduce": reduce,
        "max_units": max_units,
    }
    if isinstance(model, Network):
        own = {"preprocess": preprocess, "inputs": inputs, "device": device, "output_key": output_key}
        return _unchanged(model, {**options, **own})
    check_parameters({"output_key": OUTPUT_KEY}, {"output_key": output_key})
    model, preprocess = unwrapped(model, preprocess)
    backend = backend_of(
        model, device, classes=classes, output=output, has_inputs=inputs is not None, output_key=output_key
    )
    kind = PredictorNetwork if isinstance(backend, PredictorBackend) else Network
    return kind(backend, preprocess=preprocess, inputs=inputs, **options)


def backend_of(
    model: Any,
    device: Any = None,
    *,
    classes: ArrayLike | None = None,
    output: Output = None,
    has_inputs: bool = False,
    output_key: OutputKey = None,
) -> NetworkBackend:
    """Return the adapter for a model, chosen by its type."""
    parts: dict[str, Any] = {"has_inputs": has_inputs, "output_key": output_key}
    # A framework that has not been imported cannot have made the model. If Keras runs on PyTorch, its models
    # are PyTorch modules as well.
    if _is_a(model, "torch.nn", "Module") and not _is_a(model, "keras", "Model"):
        return _adapter("torch").TorchBackend(model, device, **parts)  # type: ignore[no-any-return]
    if _is_a(model, "skorch", "NeuralNet"):
        return _adapter("torch").skorch_backend(model, device, **parts)  # type: ignore[no-any-return]
    if device is not None:
        raise ValueError(
            f"device is {device!r}, but {_described(model)} is not a PyTorch model; omit device."
        )
    if (has_inputs or output_key is not None) and not _is_keras(model):
        raise ValueError(
            f"{'inputs' if has_inputs else 'output_key'}= is for PyTorch and Keras models, which "
            f"{_described(model)} is not; omit it, or use clausewise.networks.CallableNetwork."
        )
    if isinstance(model, MLPClassifier | MLPRegressor) and not predicts_its_own_way(model):
        return mlp_backend(model)
    if isinstance(model, str | os.PathLike):
        return _backend_of_file(Path(model), parts)
    if _is_a(model, "keras", "Model"):
        return _adapter("keras").KerasBackend(model, **parts)  # type: ignore[no-any-return]
    if _is_a(model, "onnx", "ModelProto") or _is_a(model, "onnxruntime", "InferenceSession"):
        return _adapter("onnx").OnnxBackend(model)  # type: ignore[no-any-return]
    return PredictorBackend(predictor_of(model, classes, output))


def predictor_of(model: Any, classes: ArrayLike | None = None, output: Output = None) -> Predictor:
    """Return a model that is only asked for its predictions, or raise an error for any other object."""
    for library, name in _BOOSTERS:
        if _is_a(model, library, name):
            return _adapter(library).booster_predictor(model)  # type: ignore[no-any-return]
    is_model = not isinstance(model, type)
    if is_model and (hasattr(model, "predict") or hasattr(model, "predict_proba")):
        return EstimatorPredictor(model, output)
    if is_model and callable(model):
        return FunctionPredictor(model, None if classes is None else np.asarray(classes).tolist(), output)
    raise UnsupportedModelError(
        f"{_described(model)} is not a supported model type: it has neither predict nor predict_proba. Pass "
        f"{SUPPORTED}."
    )


def _is_keras(model: Any) -> bool:
    is_file = isinstance(model, str | os.PathLike) and Path(model).suffix == ".keras"
    return is_file or _is_a(model, "keras", "Model")


def _backend_of_file(path: Path, parts: Mapping[str, Any]) -> NetworkBackend:
    if path.suffix in (".keras", ".onnx") and not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.suffix == ".keras":
        return _adapter("keras").load_keras(path, **parts)  # type: ignore[no-any-return]
    if path.suffix == ".onnx":
        return _adapter("onnx").OnnxBackend(path)  # type: ignore[no-any-return]
    if path.suffix in (".pt", ".pth", ".pkl", ".joblib", ".h5"):
        raise ValueError(
            f"{path.name} is not opened, because a {path.suffix} file may run code when it is loaded; load "
            "it yourself if you trust it and pass the model, or export it to .onnx or .keras."
        )
    raise ValueError(f"{path.name} is not a supported model file; pass {SUPPORTED}.")


def _adapter(framework: str) -> Any:
    """Import and return the adapter module of a framework."""
    try:
        return importlib.import_module(f"clausewise.networks.{framework}")
    except ModuleNotFoundError as error:
        if framework == "keras" and error.name in ("tensorflow", "jax", "torch"):
            message = (
                f"Keras is set to run on {error.name}, which is not installed; install it, or set the "
                "environment variable KERAS_BACKEND to an installed backend (torch, jax or tensorflow) "
                "before importing Keras."
            )
        else:
            message = (
                f"This model needs {error.name}, which is not installed: pip install "
                f"'clausewise[{framework}]'."
            )
        raise ModuleNotFoundError(message, name=error.name) from None


def _is_a(model: Any, module: str, name: str) -> bool:
    found = getattr(sys.modules.get(module), name, None)
    return isinstance(found, type) and isinstance(model, found)


def _described(model: Any) -> str:
    if isinstance(model, type):
        return f"The class {model.__name__} (not an instance of it)"
    return f"{type(model).__module__}.{type(model).__qualname__}"


def unwrapped(model: Any, preprocess: Preprocess = None) -> tuple[Any, Preprocess]:
    """Return the model inside pipelines and searches, and `preprocess` followed by the steps before it."""
    if isinstance(model, Pipeline):
        before = pipeline_start(model)
        if before is None:
            return model, preprocess
        steps = [step for step in (preprocess, before if len(before) else None) if step is not None]
        return unwrapped(model.steps[-1][1], steps[0] if len(steps) == 1 else steps or None)
    if isinstance(model, BaseEstimator) and hasattr(model, "best_estimator_"):
        return unwrapped(model.best_estimator_, preprocess)
    if isinstance(model, BaseEstimator) and hasattr(model, "best_params_"):
        raise UnsupportedModelError(
            f"{type(model).__name__} was fitted with refit=False, so it holds no fitted model. Fit it with "
            "refit=True, or pass a model that is fitted with its best_params_."
        )
    return model, preprocess


def pipeline_start(pipeline: Pipeline) -> Pipeline | None:
    """Return the steps before the model; None if they cannot be applied without it."""
    before = pipeline[:-1]
    return before if len(before) == 0 or hasattr(before, "transform") else None


def _unchanged(network: Network, options: dict[str, Any]) -> Network:
    neutral = {"batch_size": "auto", "reduce": "flatten", "max_units": DEFAULT_MAX_UNITS}
    # Arrays compare entry by entry; none is a default.
    stated = [
        name
        for name, value in options.items()
        if value is not None and not (isinstance(value, str | int) and value == neutral.get(name))
    ]
    if stated:
        raise ValueError(
            f"The model is already a Network; pass {', '.join(stated)} when it is first wrapped, not when "
            "it is wrapped again."
        )
    return network
