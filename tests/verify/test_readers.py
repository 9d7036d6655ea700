"""Networks of all frameworks are read into the same small form, and proofs about them are the same."""

import io
import os

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from clausewise import RuleSet, wrap
from clausewise.networks.plain import UnsupportedLayerError

os.environ.setdefault("KERAS_BACKEND", "torch")
# Of PyTorch's exporter.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Residual(nn.Module):
    """A block with a sum, batch normalisation, a concatenation and arithmetic in its code."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 8), nn.Linear(8, 8)
        self.norm, self.last = nn.BatchNorm1d(8), nn.Linear(16, 2)
        self.act = nn.LeakyReLU(0.1)

    def forward(self, x):
        x = (x - 0.5) * 2
        x = functional.elu(self.norm(self.first(x)))
        y = x + torch.tanh(self.second(x))
        return self.last(torch.cat([self.act(y), x], dim=1))


def seeded(module: nn.Module) -> nn.Module:
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                tensor.copy_(torch.rand(tensor.shape, generator=random) * 1.6 - 0.5)
        for part in module.modules():
            if isinstance(part, nn.BatchNorm1d):
                part.running_var.abs_().add_(0.3)
    return module.eval()


def dense(*, activation: nn.Module | None = None) -> nn.Module:
    act = nn.ReLU() if activation is None else activation
    return seeded(
        nn.Sequential(nn.Linear(3, 8), act, nn.Dropout(), nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 2))
    )


def exported(module: nn.Module) -> object:
    onnx = pytest.importorskip("onnx")
    file = io.BytesIO()
    axes = {"x": {0: "rows"}}
    torch.onnx.export(
        module, (torch.zeros(2, 3),), file, input_names=["x"], dynamic_axes=axes, dynamo=False, verbose=False
    )
    return onnx.load_from_string(file.getvalue())


def keras_model() -> object:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    inputs = keras.Input((3,))
    x = keras.layers.Dense(8, activation="relu")(inputs)
    x = keras.layers.BatchNormalization()(x)
    y = keras.layers.LeakyReLU(negative_slope=0.3)(keras.layers.Dense(8, activation="tanh")(x))
    outputs = keras.layers.Dense(2, activation="softmax")(keras.layers.Add()([x, y]))
    return keras.Model(inputs, outputs)


ROWS = np.random.RandomState(0).uniform(-1, 1, size=(300, 3))


@pytest.mark.parametrize(
    "make",
    [
        dense,
        lambda: seeded(Residual()),
        lambda: dense(activation=nn.Sigmoid()),
        lambda: seeded(nn.Sequential(nn.Linear(3, 5), nn.ELU(), nn.Linear(5, 3), nn.LogSoftmax(dim=1))),
        lambda: seeded(nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1), nn.Sigmoid())),
        lambda: dense().double(),
        lambda: exported(seeded(Residual())),
        keras_model,
    ],
)
def test_layers_compute_what_the_model_does(make):
    network = wrap(make())
    model = network.plain(ROWS)
    values = model.network.outputs(ROWS)
    if model.network.softmax:
        values = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
        values = np.log(values) if model.network.softmax == "log_softmax" else values
    assert np.allclose(values, network.outputs(ROWS), atol=1e-5)


def rules_for(network) -> RuleSet:
    text = "IF x0 > 0 THEN 1\nIF x1 <= 0.2 AND x2 > -0.5 THEN 0"
    return RuleSet.from_text(text, ["x0", "x1", "x2"], classes=[0, 1], default=0)


@pytest.mark.parametrize("make", [dense, lambda: seeded(Residual())])
def test_proofs_are_equal_for_a_network_and_its_onnx_export(make):
    module = make()
    results = [
        rules_for(network).certify(network, ROWS, max_boxes=2_000, seconds=600)
        for network in (wrap(module), wrap(exported(module)))
    ]
    for one, other in zip(*results, strict=True):
        assert one.status == other.status
        # Bounds may be rounded differently; what they prove may not differ.
        assert np.isclose(one.proven_volume, other.proven_volume, rtol=0, atol=1e-9)
        assert np.isclose(one.refuted_volume, other.refuted_volume, rtol=0, atol=1e-9)
        assert one.proven_rows == other.proven_rows
    assert max(proof.proven_volume for proof in results[0]) > 0.1
    shrunk = [result.shrunk() for result in results]
    assert len(shrunk[0]) > 0
    assert shrunk[0] == shrunk[1]
    assert results[0].n_certified_rows == results[1].n_certified_rows > 0


@pytest.mark.parametrize("make", [dense, lambda: seeded(Residual()), keras_model])
def test_certified_rules_hold_for_the_forward_pass_in_single_precision(make):
    network = wrap(make())
    rules = rules_for(network)
    certificate = rules.certify(network, ROWS, max_boxes=3_000, seconds=600)
    tries = np.random.RandomState(1).uniform(-1, 1, size=(20_000, 3))
    certified = certificate.shrunk()
    fires = certified.evaluator.fires(tries).dense() & certificate.certified(tries)
    labels = network.labels(tries)
    assert fires.any()
    for number in range(len(certified)):
        assert (labels[fires[number]] == certified[number].conclusion).all()


@pytest.mark.parametrize(
    ("module", "named"),
    [
        (nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2)), "1 \\(GELU\\)"),
        (nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)), "LayerNorm"),
        (nn.Sequential(nn.Linear(3, 4), nn.Softmax(dim=1), nn.Linear(4, 2)), "softmax before its last layer"),
        (nn.Sequential(nn.Linear(3, 4), nn.ELU(2.0), nn.Linear(4, 2)), "elu with a slope of 2"),
    ],
)
def test_an_unsupported_layer_is_named(module, named):
    network = wrap(module.eval(), output="logits")
    with pytest.raises(UnsupportedLayerError, match=named):
        rules_for(network).certify(network, ROWS)


def hooked() -> nn.Module:
    module = dense()
    module[1].register_forward_hook(lambda module, args, result: result.clamp(max=6))
    return module


def patched() -> nn.Module:
    module = dense()
    module[1].forward = lambda x: x.clamp(0, 6)
    return module


class Cast(nn.Module):
    """Layers in single precision, behind functions that change the type."""

    def __init__(self, *casts):
        super().__init__()
        self.layers, self.casts = dense(), casts

    def forward(self, x):
        for cast in self.casts:
            x = cast(x)
        return self.layers(x)


@torch.library.custom_op("clausewise_tests::relu", mutates_args=())
def relu(x: torch.Tensor) -> torch.Tensor:
    """Another function of the same name."""
    return x.clamp(0, 6)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (hooked, "1 \\(ReLU\\) with a hook"),
        (patched, "another forward"),
        (lambda: Cast(relu), "the function relu of its own code"),
        (lambda: Cast(lambda x: x.half(), lambda x: x.float()), "computes in float16"),
        (lambda: Cast(lambda x: x.to(torch.bfloat16), lambda x: x.float()), "computes in bfloat16"),
        (lambda: Cast(lambda x: x.type(torch.int64), lambda x: x.float()), "computes in int64"),
        (lambda: Cast(lambda x: x.type("torch.HalfTensor"), lambda x: x.float()), "type with"),
    ],
)
def test_what_a_pytorch_module_does_beside_its_layers_is_not_overlooked(make, named):
    network = wrap(make().eval(), output="logits")
    with pytest.raises(UnsupportedLayerError, match=named):
        network.plain(ROWS)


def test_the_least_precise_type_of_a_pytorch_module_counts():
    assert wrap(dense().double()).plain(ROWS).network.dtype == np.float64
    assert wrap(Cast(lambda x: x.to(torch.float32)), output="logits").plain(ROWS).network.dtype == np.float32
    mixed = nn.Sequential(nn.Linear(3, 2).double(), Cast(lambda x: x.to("cpu").float()))
    mixed[1].layers = nn.Linear(2, 2)
    model = wrap(seeded(mixed), output="logits").plain(ROWS)
    assert model.network.dtype == np.float32
    assert len(model.network.steps) == 3  # the cast rounds


def cast_graph(*types: str, scaled: bool = False) -> object:
    """Return an ONNX model of a dense layer behind casts, for rows in double precision."""
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes, last = [], "x"
    for number, name in enumerate(types):
        nodes.append(helper.make_node("Cast", [last], [f"cast{number}"], to=getattr(kinds, name)))
        last = f"cast{number}"
    if scaled:
        parts = {"offset": [0.5] * 3, "scale": [2.0] * 3}
        nodes.append(helper.make_node("Scaler", [last], ["scaled"], domain="ai.onnx.ml", **parts))
        last = "scaled"
    kind = "FLOAT" if scaled or types[-1:] == ("FLOAT",) else "DOUBLE"
    numbers = np.arange(6.0).reshape(3, 2).astype(np.float32 if kind == "FLOAT" else np.float64)
    nodes.append(helper.make_node("MatMul", [last, "weights"], ["y"]))
    ends = [
        helper.make_tensor_value_info(name, getattr(kinds, kind), [None, size])
        for name, kind, size in (("x", "DOUBLE", 3), ("y", kind, 2))
    ]
    weights = onnx.numpy_helper.from_array(numbers, "weights")
    graph = helper.make_graph(nodes, "cast", ends[:1], ends[1:], [weights])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def test_the_least_precise_type_of_an_onnx_model_counts():
    models = [cast_graph(), cast_graph("FLOAT"), cast_graph("FLOAT", "DOUBLE"), cast_graph(scaled=True)]
    dtypes = [wrap(model, output="logits").plain(ROWS).network.dtype for model in models]
    assert dtypes == [np.float64, np.float32, np.float32, np.float32]
    for types in (("FLOAT16", "FLOAT"), ("INT64", "DOUBLE")):
        with pytest.raises(UnsupportedLayerError, match=f"computes in {types[0].lower()}"):
            wrap(cast_graph(*types), output="logits").plain(ROWS)


def keras_of(**options) -> object:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    inputs = keras.Input((3,), dtype="float64")
    return keras.Model(inputs, keras.layers.Dense(2, **options)(inputs))


def test_the_least_precise_type_of_a_keras_model_counts():
    assert wrap(keras_of(dtype="float64"), output="logits").plain(ROWS).network.dtype == np.float64
    assert wrap(keras_of(dtype="float32"), output="logits").plain(ROWS).network.dtype == np.float32
    with pytest.raises(UnsupportedLayerError, match="computes in float16"):
        wrap(keras_of(dtype="mixed_float16"), output="logits").plain(ROWS)


def test_weights_of_a_keras_model_in_double_precision_are_read_exactly():
    model = keras_of(dtype="float64")
    model.set_weights([np.full((3, 2), 0.1), np.array([0.3, 1.0])])
    network = wrap(model, output="logits")
    assert (network.plain(ROWS).network.steps[0].weights == 0.1).all()
    assert np.allclose(network.outputs(ROWS), ROWS.sum(axis=1, keepdims=True) * 0.1 + [0.3, 1.0], atol=1e-15)


def test_layers_and_activations_are_those_of_keras_itself():
    keras = pytest.importorskip("keras")

    class Dense(keras.layers.Dense):
        """A layer of one's own."""

    def relu(x):
        return keras.ops.minimum(keras.ops.maximum(x, 0.0), 6.0)

    inputs = keras.Input((3,))
    for layer, named in (
        (Dense(2), "the layer .*Dense"),
        (keras.layers.Dense(2, activation=relu), "another relu"),
    ):
        with pytest.raises(UnsupportedLayerError, match=named):
            wrap(keras.Model(inputs, layer(inputs)), output="logits").plain(ROWS)
