import json
import zipfile

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch, on which Keras runs here, is not installed")
keras = pytest.importorskip("keras", reason="Keras is not installed")

from keras import layers, ops  # noqa: E402

import clausewise  # noqa: E402
from tests.networks.forward import assert_layers, relu, sigmoid, softmax  # noqa: E402

# Keras itself uses NumPy in a deprecated way.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)).astype(np.float32)
SEQUENCES = RNG.normal(size=(20, 7, 3)).astype(np.float32)


def dense(x, layer):
    kernel, bias = (np.asarray(value, dtype=np.float64) for value in layer.get_weights())
    return x @ kernel + bias


@pytest.fixture
def functional():
    keras.utils.set_random_seed(0)
    inputs = keras.Input((4,))
    first = layers.Dense(5, activation="relu", name="first")(inputs)
    total = ops.tanh(first + layers.Dense(5, name="second")(first))
    joined = layers.Dropout(0.5)(layers.Concatenate(name="joined")([total, first]))
    return keras.Model(inputs, layers.Dense(3, activation="softmax", name="last")(joined), name="net")


def expected_of(model):
    first = relu(dense(X, model.get_layer("first")))
    total = np.tanh(first + dense(first, model.get_layer("second")))
    joined = np.hstack([total, first])
    return first, joined, softmax(dense(joined, model.get_layer("last")))


def test_a_functional_model_gives_what_its_weights_read(functional):
    first, joined, chances = expected_of(functional)
    network = clausewise.wrap(functional)
    assert network.layer_names == ("first", "joined")
    assert network.n_inputs == 4
    assert_layers(network, X, {"first": first, "joined": joined})
    np.testing.assert_allclose(network.probabilities(X), chances, atol=1e-5)


def test_a_saved_model_gives_the_same(functional, tmp_path):
    functional.save(tmp_path / "net.keras")
    first, joined, chances = expected_of(functional)
    network = clausewise.wrap(tmp_path / "net.keras")
    assert_layers(network, X, {"first": first, "joined": joined})
    np.testing.assert_allclose(network.probabilities(X), chances, atol=1e-5)


def test_a_sequential_model_with_normalisation_is_followed():
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [layers.Dense(6, name="a"), layers.BatchNormalization(name="n"), layers.ReLU(name="r")]
    )
    model.add(layers.Dense(1, activation="sigmoid", name="b"))
    model(X[:2])
    scale, shift, mean, variance = RNG.uniform(0.5, 2, size=(4, 6))
    model.get_layer("n").set_weights([scale, shift, mean, variance])
    normed = (dense(X, model.get_layer("a")) - mean) / np.sqrt(variance + 1e-3) * scale + shift
    network = clausewise.wrap(model, classes=["no", "yes"])
    assert_layers(network, X, {"r": relu(normed)})
    chance = sigmoid(dense(relu(normed), model.get_layer("b")))[:, 0]
    np.testing.assert_allclose(network.probabilities(X)[:, 1], chance, atol=1e-5)


def test_a_layer_may_be_called_output():
    keras.utils.set_random_seed(0)
    hidden, last = layers.Dense(5, activation="relu", name="output"), layers.Dense(3)
    network = clausewise.wrap(keras.Sequential([keras.Input((4,)), hidden, last]))
    expected = relu(dense(X, hidden))
    assert_layers(network, X, {"output": expected})
    np.testing.assert_allclose(network.outputs(X), dense(expected, last), atol=1e-5)


def test_steps_below_each_other_are_given_back_to_their_rows():
    keras.utils.set_random_seed(0)
    a, b = layers.Dense(4, "relu", name="a"), layers.Dense(5, "relu", name="b")
    inputs = keras.Input((7, 3))
    stacked = ops.reshape(ops.transpose(inputs, (1, 0, 2)), (-1, 3))
    mean = ops.mean(ops.reshape(b(a(stacked)), (7, -1, 5)), axis=0)
    network = clausewise.wrap(keras.Model(inputs, layers.Dense(2)(mean)))
    first = relu(dense(SEQUENCES, a))
    second = relu(dense(first, b)).mean(axis=1)
    assert_layers(network, SEQUENCES, {"a": first, "mean": second})


class Own(keras.Model):
    """A model with its own `call`, its own weights and dropout."""

    def __init__(self):
        super().__init__()
        self.first, self.last, self.drop = layers.Dense(5), layers.Dense(2), layers.Dropout(0.5)
        self.mix = self.add_weight(shape=(5, 3), initializer="glorot_uniform", name="mix")

    def call(self, x, training=False):
        h = self.drop(ops.relu(self.first(x)), training=training)
        return self.last(ops.tanh(ops.matmul(h, self.mix)))


class Pair(keras.Model):
    """A model with its own `call` that reads two tensors."""

    def __init__(self):
        super().__init__()
        self.mix = layers.Dense(3, name="mix")

    def call(self, pair):
        return ops.tanh(self.mix(ops.concatenate(pair, axis=1)))


def nested(form):
    """A model that contains one with two inputs, and the layers of both."""
    keras.utils.set_random_seed(0)
    left, mix, last = (
        layers.Dense(2, "relu"),
        layers.Dense(3, "tanh", name="mix"),
        layers.Dense(2, name="last"),
    )
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    inputs = keras.Input((4,))
    halves = [left(inputs), inputs[:, 2:]]
    if form == "own":
        inner, given = Pair(), halves
        mix = inner.mix
    else:
        given = {"a": halves[0], "b": halves[1]} if form != "list" else halves
        reads = {"a": a, "b": b} if form == "mapping" else [a, b]
        inner = keras.Model(reads, mix(layers.Concatenate(name="both")([a, b])), name="inner")
    return keras.Model(inputs, last(inner(given))), left, mix, last


@pytest.mark.parametrize("form", ["list", "mapping", "names", "own"])
def test_a_nested_model_with_two_inputs_is_followed(form):
    model, left, mix, last = nested(form)
    both = np.hstack([relu(dense(X, left)), X[:, 2:]])
    hidden = np.tanh(dense(both, mix))
    network = clausewise.wrap(model)
    names = ["concatenate", "tanh"] if form == "own" else ["inner.both", "inner.mix"]
    assert_layers(network, X, dict(zip(names, [both, hidden], strict=True)))
    np.testing.assert_allclose(network.outputs(X), dense(hidden, last), atol=1e-5)


def test_a_model_with_a_call_of_its_own_is_followed():
    keras.utils.set_random_seed(0)
    model = Own()
    model(X[:2])
    first = relu(dense(X, model.first))
    mixed = np.tanh(first @ np.asarray(model.mix.value.detach(), dtype=np.float64))
    network = clausewise.wrap(model)
    assert_layers(network, X, {"relu": first, "tanh": mixed})
    np.testing.assert_allclose(network.probabilities(X), softmax(dense(mixed, model.last)), atol=1e-5)


def test_models_inside_models_are_followed(functional):
    outer = keras.Sequential([keras.Input((4,)), functional, layers.Dense(2)])
    first, joined, chances = expected_of(functional)
    expected = {"net.first": first, "net.joined": joined, "net.last": chances}
    assert_layers(clausewise.wrap(outer), X, expected)


def test_convolutions_are_positions_of_channels():
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((7, 3)),
            layers.Conv1D(4, 3, activation="relu", name="conv"),
            layers.Flatten(),
            layers.Dense(2),
        ]
    )
    kernel, bias = model.get_layer("conv").get_weights()
    windows = np.stack([SEQUENCES[:, t : t + 3] for t in range(5)], axis=1)
    expected = relu(np.einsum("rpwc,wco->rpo", windows, kernel) + bias)
    network = clausewise.wrap(model)
    assert_layers(network, SEQUENCES, {"conv": expected})
    assert next(network.hidden_layers(SEQUENCES)).unit_names[-1] == "conv[x=4, c=3]"
    (layer,) = clausewise.wrap(model, reduce="max").hidden_layers(SEQUENCES)
    np.testing.assert_allclose(layer.matrix, expected.max(axis=1), atol=1e-5)


@pytest.mark.parametrize("n_steps", [7, None])
def test_recurrent_layers_are_steps_of_units(n_steps):
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((n_steps, 3)),
            layers.GRU(4, return_sequences=True, name="gru"),
            layers.LSTM(5, name="lstm"),
            layers.Dense(2),
        ]
    )
    network = clausewise.wrap(model).inspect(SEQUENCES)
    gru, lstm = network.hidden_layers(SEQUENCES)
    assert gru.unit_names[-1] == "gru[t=6, 3]"
    part = keras.Model(model.inputs[0], [layer.output for layer in model.layers[:2]])
    for found, expected in zip((gru, lstm), part(SEQUENCES), strict=True):
        np.testing.assert_allclose(found.matrix, expected.detach().numpy().reshape(20, -1), atol=1e-5)


def test_a_model_trained_for_a_number_needs_cut_points():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="relu"), layers.Dense(1)])
    model.compile(loss="mse")
    with pytest.raises(ValueError, match="estimates a number"):
        clausewise.wrap(model).labels(X)
    assert set(clausewise.wrap(model, output=[0.0]).labels(X)) <= {"≤ 0", "> 0"}


@pytest.mark.parametrize(
    "loss", ["mse", keras.losses.Huber(), keras.losses.mean_absolute_error, ["mse"], {"last": "mae"}]
)
def test_a_saved_model_trained_for_a_number_needs_cut_points_too(loss, tmp_path):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, "relu"), layers.Dense(1, name="last")])
    model.compile(loss=loss)
    model.save(tmp_path / "net.keras")
    for made in (model, tmp_path / "net.keras"):
        with pytest.raises(ValueError, match="estimates a number"):
            clausewise.wrap(made).labels(X)


@pytest.mark.parametrize("loss", ["binary_crossentropy", "squared_hinge", keras.losses.SquaredHinge()])
def test_a_saved_model_trained_for_classes_needs_none(loss, tmp_path):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, "relu"), layers.Dense(1)])
    model.compile(loss=loss)
    model.save(tmp_path / "net.keras")
    expected = np.asarray(model(X).detach())[:, 0] > 0
    for made in (model, tmp_path / "net.keras"):
        np.testing.assert_array_equal(clausewise.wrap(made).codes(X), expected)


def test_no_gradients_are_kept_and_nothing_is_trained(functional):
    before = [value.copy() for value in functional.get_weights()]
    list(clausewise.wrap(functional).hidden_layers(X))
    assert all(np.array_equal(a, b) for a, b in zip(before, functional.get_weights(), strict=True))


def test_a_model_that_was_never_built_is_refused():
    with pytest.raises(ValueError, match=r"was never built .*train it, or call it on rows first"):
        clausewise.wrap(keras.Sequential([layers.Dense(3)]))


class Fickle(Own):
    """Looks at values, which a symbolic tensor has none of."""

    def call(self, x):
        return self.last(self.first(x)) if float(ops.sum(x)) < 1e9 else None


def test_a_call_that_cannot_be_followed_says_what_to_do():
    model = Fickle()
    model(X[:2])
    with pytest.raises(ValueError, match=r"cannot be followed on rows of shape \(4,\).*CallableNetwork"):
        clausewise.wrap(model).labels(X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a, b: keras.Model([a, b], layers.Dense(2)(a + b)), "has 2 inputs"),
        (lambda a, b: keras.Model(a, {"p": layers.Dense(2)(a), "q": a}), "returns a dict with p, q"),
    ],
)
def test_models_with_several_inputs_or_outputs_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        clausewise.wrap(make(keras.Input((4,)), keras.Input((4,))))


def test_a_lambda_in_a_file_is_refused_and_not_run(tmp_path):
    model = keras.Sequential([keras.Input((4,)), layers.Lambda(lambda x: x + 1), layers.Dense(2)])
    model.save(tmp_path / "net.keras")
    with pytest.raises(ValueError, match=r"net.keras contains a Lambda layer, which is code"):
        clausewise.wrap(tmp_path / "net.keras")


def rewritten(source, target, part, change):
    """A copy of a `.keras` file with one of its parts changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name == part else content)
    return target


def test_foreign_code_in_a_file_is_refused_and_not_run(functional, tmp_path):
    functional.save(tmp_path / "net.keras")

    def inject(content):
        config = json.loads(content)
        config["config"]["layers"][1].update(module="subprocess", class_name="Popen")
        return json.dumps(config)

    path = rewritten(tmp_path / "net.keras", tmp_path / "bad.keras", "config.json", inject)
    with pytest.raises(
        ValueError, match=r"contains a Popen of the module subprocess, which is not part of Keras"
    ):
        clausewise.wrap(path)


@pytest.mark.parametrize("name", ["TorchModuleWrapper", "TFSMLayer"])
def test_models_of_other_frameworks_in_a_file_are_refused_and_not_run(functional, tmp_path, name):
    functional.save(tmp_path / "net.keras")

    def inject(content):
        config = json.loads(content)
        config["config"]["layers"][1].update(module="keras.layers", class_name=name)
        return json.dumps(config)

    path = rewritten(tmp_path / "net.keras", tmp_path / "bad.keras", "config.json", inject)
    with pytest.raises(ValueError, match=f"bad.keras contains a {name}, a model of another framework"):
        clausewise.wrap(path)


def test_damaged_files_are_refused(functional, tmp_path):
    functional.save(tmp_path / "net.keras")
    whole = (tmp_path / "net.keras").read_bytes()
    (tmp_path / "cut.keras").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.keras").touch()
    for name in ("cut", "empty"):
        with pytest.raises(ValueError, match=f"{name}.keras is not a Keras model, or is damaged"):
            clausewise.wrap(tmp_path / f"{name}.keras")
    path = rewritten(
        tmp_path / "net.keras", tmp_path / "half.keras", "model.weights.h5", lambda c: c[: len(c) // 2]
    )
    with pytest.raises(ValueError, match=r"half\.keras cannot be loaded as a Keras model"):
        clausewise.wrap(path)
