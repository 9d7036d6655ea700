import numpy as np
import pytest
from benchmarks._recorded import recorded

from clausewise.networks import ArrayNetwork
from tests.networks.forward import assert_layers, relu, sigmoid, softmax
from tests.shared import needs_bench

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
WEIGHTS = [RNG.normal(size=shape) for shape in ((4, 6), (6, 5), (5, 3))]
BIASES = [RNG.normal(size=len(matrix.T)) for matrix in WEIGHTS]


def forward(activation):
    first = activation(X @ WEIGHTS[0] + BIASES[0])
    second = activation(first @ WEIGHTS[1] + BIASES[1])
    return first, second, second @ WEIGHTS[2] + BIASES[2]


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("relu", relu),
        ("tanh", np.tanh),
        ("sigmoid", sigmoid),
        ("logistic", sigmoid),
        ("identity", lambda x: x),
        ("elu", lambda x: np.where(x > 0, x, np.exp(x) - 1)),
        ("leaky_relu", lambda x: np.where(x > 0, x, 0.01 * x)),
        ("softplus", lambda x: np.log(1 + np.exp(x))),
        (np.sin, np.sin),
    ],
)
def test_layers_and_decisions_are_those_of_a_forward_pass(name, activation):
    network = ArrayNetwork(WEIGHTS, BIASES, activation=name)
    first, second, logits = forward(activation)
    assert_layers(network, X, {"hidden 1": first, "hidden 2": second})
    np.testing.assert_allclose(network.probabilities(X), softmax(logits))
    np.testing.assert_array_equal(network.labels(X), logits.argmax(axis=1))


def test_each_layer_may_have_an_activation_of_its_own():
    network = ArrayNetwork(WEIGHTS, BIASES, activation=["relu", "tanh"])
    first = relu(X @ WEIGHTS[0] + BIASES[0])
    assert_layers(network, X, {"hidden 1": first, "hidden 2": np.tanh(first @ WEIGHTS[1] + BIASES[1])})


def test_one_sigmoid_decides_between_two_classes():
    network = ArrayNetwork(
        [WEIGHTS[0], WEIGHTS[0].T[:, :1]],
        [BIASES[0], np.zeros(1)],
        output="sigmoid",
        classes=["no", "yes"],
    )
    expected = sigmoid(relu(X @ WEIGHTS[0] + BIASES[0]) @ WEIGHTS[0].T[:, 0])
    np.testing.assert_allclose(network.probabilities(X)[:, 1], expected)
    assert network.labels(X).tolist() == ["yes" if p > 0.5 else "no" for p in expected]


def test_several_sigmoids_are_recognised_as_such():
    network = ArrayNetwork(WEIGHTS, BIASES, output="sigmoid")
    values = sigmoid(forward(relu)[2])
    np.testing.assert_allclose(network.probabilities(X), values / values.sum(axis=1, keepdims=True))


def test_cut_points_make_classes_of_an_estimate():
    network = ArrayNetwork([WEIGHTS[0], np.ones((6, 1))], [BIASES[0], np.zeros(1)], output=[2.0, 4.0])
    values = relu(X @ WEIGHTS[0] + BIASES[0]).sum(axis=1)
    assert network.inspect(X).classes.tolist() == ["≤ 2", "2 to 4", "> 4"]
    np.testing.assert_array_equal(network.codes(X), np.searchsorted([2.0, 4.0], values))


def test_single_precision_weights_are_run_in_single_precision():
    network = ArrayNetwork([w.astype("f4") for w in WEIGHTS], [b.astype("f4") for b in BIASES])
    assert network.outputs(X).dtype == np.float32


@pytest.mark.parametrize(
    ("weights", "biases", "options", "message"),
    [
        ([], [], {}, "0 weights and 0 biases"),
        (WEIGHTS, BIASES[:2], {}, "3 weights and 2 biases; pass one of each per layer"),
        (WEIGHTS[::-1], BIASES[::-1], {}, r"Layer 1 has weights of shape \(6, 5\)"),
        (WEIGHTS, [BIASES[1], *BIASES[1:]], {}, r"Layer 0 .* a bias of shape \(5,\); expected \(inputs"),
        ([WEIGHTS[0] * np.nan, *WEIGHTS[1:]], BIASES, {}, "Layer 0 contains NaN or infinity in its weights"),
        (WEIGHTS, BIASES, {"activation": "swish"}, "activation is 'swish'; expected 'identity', 'relu'"),
        (WEIGHTS, BIASES, {"activation": ["relu"]}, "activation has 1 entries for 2 hidden layers"),
        (WEIGHTS, BIASES, {"output": "hinge"}, "output is 'hinge'; expected 'softmax'"),
    ],
)
def test_arrays_that_do_not_make_a_network_are_refused(weights, biases, options, message):
    with pytest.raises(ValueError, match=message):
        ArrayNetwork(weights, biases, **options)


@needs_bench
@pytest.mark.parametrize("task", ["xor", "magic", "letters", "mb_er", "mb_hist"])
def test_recorded_networks_decide_as_recorded(task):
    network, arrays = recorded(f"{task}_fold0")
    np.testing.assert_array_equal(network.codes(arrays["X_test"]), arrays["dnn_test_labels"])
