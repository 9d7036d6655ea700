"""The MODEL argument: a file, or an object of the user's own code."""

import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clausewise.networks import Network, wrap

# Parts of scikit-learn's own networks that skops does not count among the types it trusts.
_PARTS_OF_NETWORKS = (
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)


class ModelError(ValueError):
    """A model that cannot be loaded."""


def load_network(model: str, *, trusted: Sequence[str] = (), classes: Sequence[str] = ()) -> Network:
    """The network in an `.onnx`, `.keras` or `.skops` file, or at `module:object`.

    Nothing in a file is executed; `module:object` imports the user's own module, which is. Types in a
    `.skops` file beyond scikit-learn's must be named in `trusted`.
    """
    found: Any = model
    if Path(model).suffix == ".skops":
        found = _skops(Path(model), trusted)
    elif re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", model) and not Path(model).exists():
        found = _imported(model)
    if isinstance(found, Network):
        return found
    return wrap(found, classes=_labels(classes) if classes else None)


def _skops(path: Path, trusted: Sequence[str]) -> Any:
    try:
        from skops import io
        from skops.io.exceptions import UntrustedTypesFoundException
    except ModuleNotFoundError:
        raise ModuleNotFoundError("A .skops file needs skops: pip install skops", name="skops") from None
    if not path.is_file():
        raise ModelError(f"There is no file {path}.")
    data = path.read_bytes()
    try:
        unknown = sorted(set(io.get_untrusted_types(data=data)) - {*_PARTS_OF_NETWORKS, *trusted})
        if unknown:
            raise ModelError(
                f"{path} holds types that are not trusted: {', '.join(unknown)}. If you know them, pass "
                f"{' '.join(f'--trust {name}' for name in unknown)}."
            )
        return io.loads(data, trusted=[*_PARTS_OF_NETWORKS, *trusted])
    except ModelError:
        raise
    except UntrustedTypesFoundException as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:  # skops raises whatever a damaged file makes its parts raise
        raise ModelError(
            f"{path} cannot be read as a .skops file: {type(error).__name__}: {error}"
        ) from error


def _imported(model: str) -> Any:
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


def _labels(classes: Sequence[str]) -> list[Any]:
    """Labels from the command line: whole numbers if all are, else text."""
    return [int(label) for label in classes] if all(map(_is_whole, classes)) else list(classes)


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+", text) is not None
