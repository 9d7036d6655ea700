"""Loading of networks: from files, or from the user's own modules."""

import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clausewise.cli.table_files import is_table
from clausewise.networks import Network, wrap
from clausewise.networks.answers import number_model

# Types of scikit-learn, NumPy and SciPy that ordinary pipelines contain and skops does not trust itself; each
# was reviewed. Building one from its state, or calling the functions on rows, imports nothing, opens nothing
# and runs no code that the file could choose.
_KNOWN_TYPES = (
    "builtins.object",  # a data type, in make_column_selector(dtype_include=object)
    "numpy.dtype",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",  # in BSpline
    "scipy.interpolate._bsplines.BSpline",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._mutual_info.mutual_info_regression",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)
# Suffixes of files that are unpickled, so that loading them may run any code.
_PICKLED = (".h5", ".joblib", ".pkl", ".pickle", ".pt", ".pth")
_SUFFIXES = (".keras", ".onnx", ".skops")
_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class ModelError(ValueError):
    """A model that cannot be loaded."""


def load_network(
    model: str,
    classes: str | None = None,
    trusted: Sequence[str] | None = None,
    *,
    for_numbers: bool = False,
    data: str | None = None,
) -> Network:
    """Load the network in an `.onnx`, `.keras` or `.skops` file, or at `module:object`.

    Nothing in a file is executed; `module:object` imports, and so runs, the user's own module. Types in a
    `.skops` file beyond those of ordinary scikit-learn pipelines must be named in `trusted`. `classes` are
    labels with commas between. With `for_numbers`, a function is taken to return numbers. `data` is the
    argument after the model, with which it may have been swapped.
    """
    found: Any = model
    if Path(model).suffix == ".skops":
        found = _load_skops(Path(model), trusted or ())
    elif Path(model).suffix in _PICKLED:
        raise ModelError(
            f"{model} is not opened, because a {Path(model).suffix} file may run code when it is loaded. "
            "Save a scikit-learn model with skops.io.dump as .skops, a PyTorch model as .onnx, or a Keras "
            "model as .keras; or load the file in a module of your own and pass module:object."
        )
    elif _is_object(model):
        found = _import_object(model)
    elif Path(model).suffix not in _SUFFIXES:
        is_swapped = data is not None and is_table(model) and _is_model(data)
        raise ModelError(
            f"{model} is not a supported model; pass an .onnx, .keras or .skops file, or module:object."
            + (f" {data} looks like one; MODEL comes before DATA." if is_swapped else "")
        )
    if isinstance(found, Network):
        return found
    if for_numbers:
        return number_model(found)
    return wrap(found, classes=_labels(classes) if classes else None)


def _is_object(model: str) -> bool:
    return _OBJECT.fullmatch(model) is not None and not Path(model).exists()


def _is_model(path: str) -> bool:
    return Path(path).suffix in (*_SUFFIXES, *_PICKLED) or _is_object(path)


def _load_skops(path: Path, trusted: Sequence[str]) -> Any:
    try:
        from skops import io
        from skops.io.exceptions import UntrustedTypesFoundException
    except ModuleNotFoundError:
        raise ModuleNotFoundError("A .skops file needs skops: pip install skops", name="skops") from None
    if not path.is_file():
        raise ModelError(f"There is no file {path}.")
    data = path.read_bytes()
    try:
        unknown = sorted(set(io.get_untrusted_types(data=data)) - {*_KNOWN_TYPES, *trusted})
        if unknown:
            raise ModelError(
                f"{path} contains types that are not trusted: {', '.join(unknown)}. If you trust them, pass "
                f"{' '.join(f'--trust {name}' for name in unknown)}."
            )
        return io.loads(data, trusted=[*_KNOWN_TYPES, *trusted])
    except ModelError:
        raise
    except UntrustedTypesFoundException as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:  # a damaged file can make skops raise anything
        raise ModelError(
            f"{path} cannot be read as a .skops file: {type(error).__name__}: {error}"
        ) from error


def _import_object(model: str) -> Any:
    module_name, path = model.split(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and not module_name.startswith(error.name):
            raise
        raise ModelError(f"There is no module {module_name!r} to import {path} from.") from error
    for name in path.split("."):
        if not hasattr(found, name):
            raise ModelError(f"{module_name} has no {path!r}.")
        found = getattr(found, name)
    return found


def _labels(classes: str) -> list[Any]:
    """Labels with commas between: integers if all of them are, else text."""
    labels = [label.strip() for label in classes.split(",")]
    return [int(label) for label in labels] if all(map(_is_integer, labels)) else list(labels)


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+", text) is not None
