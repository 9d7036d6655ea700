import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import clausewise

FRAMEWORKS = {
    "torch",
    "keras",
    "onnx",
    "onnxruntime",
    "skorch",
    "tensorflow",
    "jax",
    "xgboost",
    "lightgbm",
    "catboost",
}


def frameworks_imported_by(code):
    """Which frameworks a fresh process has imported after some code."""
    script = f"{code}\nimport sys; print(sorted({FRAMEWORKS} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return result.stdout.strip()


def test_no_framework_is_imported_for_networks_that_do_not_use_it():
    code = """
import clausewise, numpy as np
from sklearn.neural_network import MLPClassifier
X = np.random.default_rng(0).normal(size=(40, 3))
model = MLPClassifier((4,), solver="lbfgs", max_iter=2, random_state=0)
import warnings; warnings.simplefilter("ignore")
network = clausewise.wrap(model.fit(X, X[:, 0] > 0))
next(network.hidden_layers(X))
from sklearn.ensemble import RandomForestClassifier
clausewise.extract(RandomForestClassifier(2).fit(X, X[:, 0] > 0), X)
"""
    assert frameworks_imported_by(code) == "[]"


@pytest.mark.parametrize(
    ("missing", "file", "extra"),
    [
        ("onnx", "model.onnx", "onnx"),
        ("onnxruntime", "model.onnx", "onnx"),
        ("keras", "model.keras", "keras"),
    ],
)
def test_a_missing_framework_is_named_with_its_extra(tmp_path, monkeypatch, missing, file, extra):
    (tmp_path / file).touch()
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, f"clausewise.networks.{extra}", raising=False)
    with pytest.raises(
        ModuleNotFoundError, match=rf"needs {missing}, .* pip install 'clausewise\[{extra}\]'"
    ):
        clausewise.wrap(tmp_path / file)


def test_a_missing_backend_of_keras_is_told_apart_from_keras(tmp_path, monkeypatch):
    (tmp_path / "model.keras").touch()
    monkeypatch.delitem(sys.modules, "clausewise.networks.keras", raising=False)
    finder = _Missing("keras", "tensorflow")
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match=r"set to run on tensorflow, .* KERAS_BACKEND"):
        clausewise.wrap(tmp_path / "model.keras")


class _Missing:
    """Lets a module's import fail because another one is not there."""

    def __init__(self, module, missing):
        self.module, self.missing = module, missing

    def find_spec(self, name, path=None, target=None):
        if name == self.module:
            raise ModuleNotFoundError(f"No module named {self.missing!r}", name=self.missing)


@pytest.mark.parametrize("model", [np.zeros(3), None, {"predict": 1}])
def test_an_unknown_model_is_refused_with_what_is_supported(model):
    with pytest.raises(TypeError, match=r"neither predict nor predict_proba. Pass .*torch.nn.Module, .*file"):
        clausewise.wrap(model)


def test_a_class_instead_of_an_object_is_noticed():
    with pytest.raises(TypeError, match=r"The class LogisticRegression \(not an instance of it\)"):
        clausewise.wrap(LogisticRegression)


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        ("there_is_none.onnx", FileNotFoundError, "There is no file"),
        ("there_is_none.keras", FileNotFoundError, "There is no file"),
        ("weights.pt", ValueError, "a .pt file may run code when it is loaded"),
        ("model.pkl", ValueError, "a .pkl file may run code when it is loaded"),
        ("notes.txt", ValueError, "is not a supported model file"),
    ],
)
def test_files_that_cannot_be_opened_are_refused(file, error, message):
    with pytest.raises(error, match=message):
        clausewise.wrap(file)


def test_a_device_is_only_for_pytorch():
    with pytest.raises(ValueError, match=r"device is 'cuda', but .* is not a PyTorch model"):
        clausewise.wrap("model.onnx", device="cuda")
