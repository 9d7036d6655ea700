"""Models that return numbers, of every framework: their numbers and hidden layers."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPRegressor

import clausewise
from clausewise.networks import ArrayNetwork, CallableNetwork

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3)).astype(np.float32)
Y = X @ [1.0, -2.0, 0.5]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_an_mlp_gives_its_own_numbers_and_its_layers(loss):
    model = MLPRegressor(loss, hidden_layer_sizes=(4,), max_iter=20, random_state=0).fit(X, np.abs(Y))
    network = clausewise.wrap(model)
    assert network.estimates_numbers(X)
    run = network.run_numbers(X, hidden=True)
    assert run.numbers[:, 0] == pytest.approx(model.predict(X), rel=1e-5)
    assert [layer.name for layer in run.layers] == ["hidden 1"]
    assert "→ a number" in str(network)
    assert network.inspect(X) is network


def test_what_is_known_and_what_may_be_a_number():
    several = ArrayNetwork([np.eye(3)], [np.zeros(3)], output="number")
    assert several.numbers(X) == pytest.approx(X)
    assert "→ 3 numbers" in str(several)
    linear = ArrayNetwork([np.ones((3, 1))], [np.zeros(1)], output="logits")
    assert not linear.estimates_numbers(X)
    assert linear.may_estimate_numbers(X)
    assert not clausewise.wrap(LogisticRegression().fit(X, Y > 0)).may_estimate_numbers(X)
    assert clausewise.wrap(LinearRegression().fit(X, Y)).estimates_numbers(X)


def test_functions_return_numbers_if_that_is_stated():
    for network in (
        clausewise.wrap(lambda rows: rows[:, 0], output="number"),
        CallableNetwork(lambda rows: rows[:, 0], output="number"),
    ):
        assert network.numbers(X)[:, 0] == pytest.approx(X[:, 0])
        with pytest.raises(ValueError, match=r"estimates a number .* RuleRegressor"):
            network.labels(X)
    with pytest.raises(ValueError, match="NaN or infinite"):
        clausewise.wrap(lambda rows: np.full(len(rows), np.nan), output="number").numbers(X)
    with pytest.raises(ValueError, match="expected numbers"):
        clausewise.wrap(lambda rows: np.full(len(rows), "a"), output="number").numbers(X)


def test_torch_and_onnx_give_numbers(tmp_path):
    torch, onnx = pytest.importorskip("torch"), pytest.importorskip("onnx")
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    expected = module(torch.tensor(X)).detach().numpy()
    network = clausewise.wrap(module, output="number")
    assert network.estimates_numbers(X)
    assert network.numbers(X) == pytest.approx(expected, abs=1e-5)
    assert clausewise.wrap(module).may_estimate_numbers(X)
    pytest.importorskip("onnxruntime")
    options = {"domain": "ai.onnx.ml", "coefficients": [1.0, 2.0]}
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("LinearRegressor", ["x"], ["y"], **options)],
        "linear",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, 2])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None, 1])],
    )
    domains = [onnx.helper.make_opsetid("ai.onnx.ml", 1), onnx.helper.make_opsetid("", 13)]
    model = onnx.helper.make_model(graph, opset_imports=domains, ir_version=8)
    network = clausewise.wrap(model)
    assert network.estimates_numbers(X[:, :2])
    assert network.numbers(X[:, :2])[:, 0] == pytest.approx(X[:, 0] + 2 * X[:, 1], abs=1e-5)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_keras_and_boosters_give_numbers():
    keras, xgboost = pytest.importorskip("keras"), pytest.importorskip("xgboost")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(1)])
    model.compile(loss="mse")
    network = clausewise.wrap(model)
    assert network.estimates_numbers(X)
    assert network.numbers(X) == pytest.approx(keras.ops.convert_to_numpy(model(X)), abs=1e-5)
    booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(X, Y), 3)
    assert clausewise.wrap(booster).numbers(X)[:, 0] == pytest.approx(booster.predict(xgboost.DMatrix(X)))
