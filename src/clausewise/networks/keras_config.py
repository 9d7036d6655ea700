"""The configuration of a Keras model: the losses it names, and `.keras` files that are safe to load."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import keras

# Layers of Keras that unpickle a PyTorch module or run a TensorFlow graph.
_FOREIGN = ("TorchModuleWrapper", "TFSMLayer")
_NUMBER_LOSSES = (
    "squared",
    "absolute",
    "mse",
    "mae",
    "msle",
    "mape",
    "huber",
    "logcosh",
    "log_cosh",
    "poisson",
)


def checked_config(path: Path) -> Any:
    """Return a file's configuration; raise a ValueError if loading it could run code, or if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            config = json.loads(archive.read("config.json"))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise ValueError(f"{path.name} is not a Keras model, or is damaged: {error}") from error
    known = keras.saving.get_custom_objects()
    for entry in _objects(config):
        module, name = str(entry.get("module") or "keras"), entry["class_name"]
        is_registered = entry.get("registered_name") in known
        if name == "Lambda" or "__lambda__" in str(name):
            raise ValueError(
                f"{path.name} contains a Lambda layer, which is code that would run when loaded; load it "
                "yourself if you trust it (keras.saving.load_model with safe_mode=False) and pass the model."
            )
        if str(name).split(">")[-1] in _FOREIGN:
            raise ValueError(
                f"{path.name} contains a {name}, a model of another framework that may run code when loaded; "
                "load it yourself if you trust it and pass the model."
            )
        if module.split(".")[0] not in ("keras", "builtins") and not is_registered:
            raise ValueError(
                f"{path.name} contains a {name} of the module {module}, which is not part of Keras; load it "
                "yourself if you trust it and pass the model."
            )
    return config


def _objects(config: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every serialised object in a model's configuration."""
    if isinstance(config, dict):
        if "class_name" in config:
            yield config
        config = list(config.values())
    if isinstance(config, list):
        for entry in config:
            yield from _objects(entry)


def is_regression_loss(loss: Any) -> bool:
    """Return whether a model with this loss (any form that Keras accepts) estimates numbers."""
    return any(_is_for_numbers(name) for name in _loss_names(loss))


def _loss_names(loss: Any) -> Iterator[str]:
    """Yield the names of losses, given as names, functions, objects, serialised, or a collection of these."""
    if isinstance(loss, dict) and "class_name" in loss:
        yield str(loss["class_name"])
        # The configuration of a function is its name, that of an object its options.
        yield from [loss["config"]] if isinstance(loss.get("config"), str) else []
    elif isinstance(loss, dict | list | tuple):
        for one in loss.values() if isinstance(loss, dict) else loss:
            yield from _loss_names(one)
    elif loss is not None:
        yield loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)


def _is_for_numbers(loss_name: str) -> bool:
    # The squared hinge loss is for classifiers.
    return "hinge" not in loss_name.lower() and any(word in loss_name.lower() for word in _NUMBER_LOSSES)
