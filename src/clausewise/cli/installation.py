"""Installed versions, and a self-test from a network to exported rules."""

import importlib.metadata
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier

import clausewise
from clausewise import ECLAIRE, RuleSet
from clausewise.base import threads

_REQUIRED = ("numpy", "scipy", "scikit-learn", "joblib", "narwhals", "threadpoolctl")
_OPTIONAL = {
    "torch": "PyTorch models",
    "keras": "Keras models",
    "onnx": "ONNX models and exports",
    "onnxruntime": "running ONNX models",
    "skops": "scikit-learn model files",
    "matplotlib": "plots",
    "pandas": "pandas tables",
    "polars": "polars tables",
    "pyarrow": "data files",
    "typer": "command line",
    "rich": "command line",
}


def installed() -> dict[str, Any]:
    """Return versions, optional dependencies and the number of threads."""
    return {
        "versions": {
            "clausewise": clausewise.__version__,
            "Python": f"{platform.python_version()} on {platform.platform(terse=True)}, {platform.machine()}",
            **{name: _version_of(name) for name in _REQUIRED},
        },
        "optional dependencies": {f"{name} ({use})": _version_of(name) for name, use in _OPTIONAL.items()},
        "threads": threads.resolve(None),
    }


def self_test() -> dict[str, str]:
    """Check extraction, files and exports on a small network; return "ok" or the error of each check."""
    X, y = _xor(600)
    found: dict[str, Any] = {}

    def extracts() -> None:
        network = MLPClassifier((16, 8), solver="lbfgs", max_iter=300, random_state=0).fit(X, y)
        found["labels"] = network.predict(X)
        found["rules"] = ECLAIRE(network, random_state=0).fit(X).rules_
        agrees = float(np.mean(found["rules"].predict(X) == found["labels"]))
        _require(agrees > 0.85, f"fidelity is {agrees:.2f}; expected more than 0.85")

    def compacts() -> None:
        found["small"] = found["rules"].compact(X, found["labels"], max_rules=8)
        _require(len(found["small"]) <= 8, f"{len(found['small'])} rules instead of at most 8")

    def repeats_itself() -> None:
        one, two = (found["rules"].compact(X, found["labels"], max_rules=4, n_jobs=n) for n in (1, 2))
        _require(one == two, "the number of threads changed the rules")

    def reads_what_it_writes() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rules.json"
            found["small"].save(path)
            _require(RuleSet.load(path) == found["small"], "the rule file was read back differently")
        _require(
            RuleSet.from_text(found["small"].to_text()) == found["small"],
            "the rule text was read back differently",
        )

    def exports_the_same_answers() -> None:
        names: dict[str, Any] = {}
        exec(compile(found["small"].to_python(), "rules.py", "exec"), names)  # our own code, not from a file
        answers = [names["predict"](row) for row in X.tolist()]
        _require(answers == found["small"].predict(X).tolist(), "exported rules decide differently")

    tests: dict[str, Callable[[], None]] = {
        "extraction of rules": extracts,
        "compaction": compacts,
        "same rules with any number of threads": repeats_itself,
        "round trip through files and text": reads_what_it_writes,
        "exported rules decide alike": exports_the_same_answers,
    }
    return {name: _outcome(test) for name, test in tests.items()}


def _outcome(test: Callable[[], None]) -> str:
    try:
        test()
    except Exception as error:  # the other tests should still run
        return f"{type(error).__name__}: {error}"
    return "ok"


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _xor(n_rows: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X = np.random.default_rng(0).random((n_rows, 4))
    return X, ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
