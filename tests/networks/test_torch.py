import copy
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

import clausewise  # noqa: E402
from clausewise.networks.torch import TorchBackend  # noqa: E402
from clausewise.networks.torch_trace import TracedProgram  # noqa: E402
from tests.networks.forward import (  # noqa: E402
    assert_layers,
    conv1d,
    gru,
    linear,
    lstm,
    max_pool,
    parameters,
    relu,
    sigmoid,
    softmax,
)
from tests.networks.modules import (  # noqa: E402
    Branching,
    Convolutional,
    Recurrent,
    Residual,
    Stacked,
    Undecided,
    seeded,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4)).astype(np.float32)
SIGNALS = RNG.normal(size=(30, 2, 9)).astype(np.float32)
SEQUENCES = RNG.normal(size=(30, 7, 3)).astype(np.float32)


def dense(*sizes):
    layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


# --- Against a forward pass in NumPy ---


def test_a_residual_network_gives_what_its_weights_read():
    module = seeded(Residual)
    values = parameters(module)
    first = relu(linear(X, values, "first"))
    second = linear(first, values, "second")
    scale = values["norm.weight"] / np.sqrt(module.norm.running_var.numpy() + module.norm.eps)
    normed = (second - module.norm.running_mean.numpy()) * scale + values["norm.bias"]
    total = first + np.tanh(normed)
    network = clausewise.wrap(module)
    assert_layers(network, X, {"relu": first, "add": total})
    np.testing.assert_allclose(network.probabilities(X), softmax(linear(total, values, "last")), atol=1e-5)


class NamedOutput(nn.Module):
    """Its hidden layer is called as if it were its last."""

    def __init__(self):
        super().__init__()
        self.first, self.output, self.last = nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)

    def forward(self, x):
        return self.last(self.output(self.first(x)))


@pytest.mark.parametrize("wrapped", [lambda module: module, Undecided])
def test_a_layer_may_be_called_output(wrapped):
    module = seeded(NamedOutput)
    values = parameters(module)
    hidden = relu(linear(X, values, "first"))
    network = clausewise.wrap(wrapped(module)).inspect(X)
    (name,) = network.layer_names
    assert name.split(".")[-1] == "output"
    assert_layers(network, X, {name: hidden})
    np.testing.assert_allclose(network.outputs(X), linear(hidden, values, "last"), atol=1e-5)


@pytest.mark.parametrize("last", [nn.LogSigmoid(), nn.Tanh(), nn.BatchNorm1d(1)])
def test_one_column_that_no_last_step_explains_is_not_guessed(last):
    module = nn.Sequential(dense(4, 5, 1), last)
    with pytest.raises(ValueError, match="The network's output is one column, and neither"):
        clausewise.wrap(module).labels(X)


def test_a_log_sigmoid_is_read_by_a_function():
    torch.manual_seed(0)
    module = nn.Sequential(dense(4, 5, 1), nn.LogSigmoid())
    with torch.no_grad():
        chance = module[0](torch.tensor(X)).sigmoid().numpy()[:, 0]
    network = clausewise.wrap(module, output=np.exp)
    np.testing.assert_allclose(network.probabilities(X)[:, 1], chance, atol=1e-6)
    np.testing.assert_array_equal(network.codes(X), chance > 0.5)
    assert len(set(network.codes(X))) == 2


def test_a_branching_network_gives_the_concatenation():
    module = seeded(Branching)
    values = parameters(module)
    left, right = sigmoid(linear(X, values, "left")), relu(linear(X, values, "right"))
    joined = np.hstack([left, right, X])
    network = clausewise.wrap(module)
    assert_layers(network, X, {"cat": joined})
    np.testing.assert_allclose(network.probabilities(X), softmax(linear(joined, values, "last")), atol=1e-5)


def test_a_convolutional_network_gives_channels_of_positions():
    module = seeded(Convolutional)
    values = parameters(module)
    first = relu(conv1d(SIGNALS, values["body.0.weight"], values["body.0.bias"]))
    pooled = max_pool(first, 2)
    second = np.tanh(conv1d(pooled, values["body.3.weight"], values["body.3.bias"]))
    network = clausewise.wrap(module).inspect(SIGNALS)
    assert_layers(network, SIGNALS, {"body.2": pooled, "mean": second.mean(axis=2)})
    chance = sigmoid(linear(second.mean(axis=2), values, "head"))[:, 0]
    np.testing.assert_allclose(network.probabilities(SIGNALS)[:, 1], chance, atol=1e-5)
    assert next(network.hidden_layers(SIGNALS)).unit_names[-1] == "body.2[c=3, x=2]"


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    ("kind", "forward", "from_state", "name"),
    [
        (nn.GRU, gru, False, {True: "rnn.h[:, -1]", False: "rnn.h[-1]"}),
        (nn.LSTM, lstm, False, {True: "rnn.h[:, -1]", False: "rnn.h[-1]"}),
        (nn.GRU, gru, True, "rnn.h_n[-1]"),
        (nn.LSTM, lstm, True, "rnn.h_n[-1]"),
    ],
)
def test_a_recurrent_network_gives_its_last_state(kind, forward, from_state, name, batch_first):
    module = seeded(Recurrent, kind, batch_first, from_state)
    values = parameters(module)
    gates = [values[f"rnn.{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    states = forward(SEQUENCES, *gates)
    network = clausewise.wrap(module)
    name = name if isinstance(name, str) else name[batch_first]
    assert_layers(network, SEQUENCES, {name: states[:, -1]})
    expected = softmax(linear(states[:, -1], values, "head"))
    np.testing.assert_allclose(network.probabilities(SEQUENCES), expected, atol=1e-5)


def test_every_step_of_a_recurrent_layer_is_named():
    module = seeded(Stacked)
    values = parameters(module)
    states = gru(
        SEQUENCES, *(values[f"gru.{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    )
    network = clausewise.wrap(module)
    assert_layers(network, SEQUENCES, {"gru.h": states, "relu": relu(linear(states, values, "second"))})
    assert next(network.hidden_layers(SEQUENCES)).unit_names[-1] == "gru.h[t=6, 3]"
    last = clausewise.wrap(module, reduce={"gru.h": "last"}).inspect(SEQUENCES)
    np.testing.assert_allclose(next(last.hidden_layers(SEQUENCES)).matrix, states[:, -1], atol=1e-5)


def test_all_sequences_of_a_time_first_network_may_be_chosen():
    network = clausewise.wrap(seeded(Recurrent, nn.GRU, batch_first=False), layers="rnn.h")
    by_rows = clausewise.wrap(seeded(Recurrent, nn.GRU, batch_first=True), layers="rnn.h")
    (layer,), (expected,) = network.hidden_layers(SEQUENCES), by_rows.hidden_layers(SEQUENCES)
    np.testing.assert_allclose(layer.matrix, expected.matrix, atol=1e-6)


# --- Modules that cannot be traced ---


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (Residual, X),
        (Branching, X),
        (Convolutional, SIGNALS),
        (Recurrent, SEQUENCES),
        (lambda: Recurrent(nn.LSTM, batch_first=False), SEQUENCES),
        (Stacked, SEQUENCES),
    ],
)
def test_recording_finds_the_same_layers_as_tracing(make, rows):
    module = seeded(make)
    traced, recorded = clausewise.wrap(module), clausewise.wrap(Undecided(module))
    for one, other in zip(traced.hidden_layers(rows), recorded.hidden_layers(rows), strict=True):
        assert other.name == f"inner.{one.name}"
        np.testing.assert_array_equal(other.matrix, one.matrix)
    np.testing.assert_array_equal(recorded.labels(rows), traced.labels(rows))
    assert isinstance(traced._backend._program, TracedProgram)
    assert not isinstance(recorded._backend._program, TracedProgram)


def test_a_trace_that_leads_elsewhere_than_the_module_is_not_used():
    # `isinstance(state, tuple)` is false while tracing, so the trace would take the cell's state.
    module = seeded(Recurrent, nn.LSTM, from_state=True)
    assert isinstance(TorchBackend(module)._program, TracedProgram)
    assert not isinstance(clausewise.wrap(module).inspect(SEQUENCES)._backend._program, TracedProgram)


class OtherModule(nn.Module):
    """Chooses between layers of the same kind."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.last = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        chosen = self.a if float(x[0, 0]) < 5 else self.b
        return self.last(F.relu(chosen(x)))


class OtherWeights(OtherModule):
    """Chooses between weights in one place."""

    def forward(self, x):
        weights = self.a.weight if float(x[0, 0]) < 5 else self.b.weight
        return self.last(F.relu(F.linear(x, weights)))


@pytest.mark.parametrize("make", [OtherModule, OtherWeights])
def test_a_module_that_takes_other_weights_for_other_rows_is_refused(make):
    rows = X.copy()
    rows[20] = 9
    network = clausewise.wrap(seeded(make), batch_size=10)
    assert len(next(network.hidden_layers(rows[:20])).matrix) == 20
    with pytest.raises(ValueError, match="takes another branch for these rows"):
        list(network.hidden_layers(rows))


def test_a_module_that_takes_another_way_for_other_rows_is_refused():
    class Fickle(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 3), nn.Linear(3, 2)

        def forward(self, x):
            h = self.a(x)
            return self.b(F.relu(h) if float(x[0, 0]) < 5 else torch.tanh(torch.exp(h)))

    rows = X.copy()
    rows[20] = 9
    network = clausewise.wrap(Fickle(), batch_size=10)
    with pytest.raises(ValueError, match="takes another branch for these rows"):
        list(network.hidden_layers(rows))


def test_a_transformer_is_followed_into_its_blocks():
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
            self.embed, self.encoder = nn.Linear(3, 8), nn.TransformerEncoder(block, 2)
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            return self.head(self.encoder(self.embed(x)).mean(dim=1))

    module = seeded(Encoder)
    network = clausewise.wrap(module).inspect(SEQUENCES)
    assert network.layer_names == (
        "embed",
        "encoder.layers.0.norm1",
        "encoder.layers.0.relu",
        "encoder.layers.0.norm2",
        "encoder.layers.1.norm1",
        "encoder.layers.1.relu",
        "mean",
    )
    with torch.no_grad():
        encoded = module.eval().encoder(module.embed(torch.tensor(SEQUENCES))).mean(dim=1)
    *_, last = network.hidden_layers(SEQUENCES)
    np.testing.assert_allclose(last.matrix, encoded, atol=1e-5)


# --- The module is left as it was ---


def state_of(module):
    return SimpleNamespace(
        training=[inner.training for inner in module.modules()],
        hooks=[len(inner._forward_hooks) + len(inner._forward_pre_hooks) for inner in module.modules()],
        needs_grad=[value.requires_grad for value in module.parameters()],
        values=copy.deepcopy(module.state_dict()),
    )


def assert_same_state(module, before):
    after = state_of(module)
    assert (after.training, after.hooks, after.needs_grad) == (
        before.training,
        before.hooks,
        before.needs_grad,
    )
    assert all(torch.equal(after.values[name], value) for name, value in before.values.items())
    assert torch.is_grad_enabled()
    assert all(value.grad is None for value in module.parameters())


@pytest.mark.parametrize("around", [lambda module: module, Undecided])
def test_flags_hooks_and_gradients_are_as_before(around):
    module = around(seeded(Residual).train())
    (module.inner if isinstance(module, Undecided) else module).norm.eval()
    next(module.parameters()).requires_grad_(False)
    before = state_of(module)
    network = clausewise.wrap(module)
    list(network.hidden_layers(X))
    network.labels(X)
    assert_same_state(module, before)


@pytest.mark.parametrize("around", [lambda module: module, Undecided])
def test_flags_hooks_and_gradients_are_as_before_after_a_failure(around):
    class Failing(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.fails = nn.Linear(4, 3), nn.Linear(3, 2), False

        def forward(self, x):
            h = self.a(x)
            if self.fails:
                raise RuntimeError("no such luck")
            return self.b(F.relu(h))

    inner = Failing().train()
    module = around(inner)
    network = clausewise.wrap(module).inspect(X)
    inner.fails = True
    inner.a.register_forward_hook(lambda *_: (_ for _ in ()).throw(RuntimeError("no such luck")))
    before = state_of(module)
    with pytest.raises(RuntimeError, match="no such luck"):
        list(network.hidden_layers(X))
    with pytest.raises(RuntimeError, match="no such luck"):
        network.labels(X)
    assert_same_state(module, before)


def test_a_module_that_does_more_than_set_flags_is_not_told():
    class Merging(nn.Sequential):
        def train(self, mode=True):
            raise RuntimeError("weights would be merged")

    clausewise.wrap(Merging(*dense(4, 3, 2))).labels(X)


def test_rows_are_not_changed_by_a_module_that_works_in_place():
    rows = X.copy()
    clausewise.wrap(nn.Sequential(nn.ReLU(inplace=True), *dense(4, 3, 2))).labels(rows)
    np.testing.assert_array_equal(rows, X)


def test_an_activation_in_place_is_seen_as_weights_read_it():
    class InPlace(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 3), nn.Linear(3, 2)

        def forward(self, x):
            h = self.a(x)
            h.relu_()
            return self.b(h)

    module = seeded(InPlace)
    assert_layers(clausewise.wrap(module), X, {"a": relu(linear(X, parameters(module), "a"))})
    recorded = clausewise.wrap(Undecided(module))
    assert_layers(recorded, X, {"inner.relu": relu(linear(X, parameters(module), "a"))})


def test_training_on_is_seen_by_the_network():
    module = seeded(dense, 4, 3, 2)
    network = clausewise.wrap(module)
    before = network.outputs(X)
    with torch.no_grad():
        module[2].bias += 1
    np.testing.assert_allclose(network.outputs(X), before + 1, atol=1e-6)


# --- What people have ---


def test_dense_layers_are_known_without_rows():
    network = clausewise.wrap(dense(4, 6, 5, 3))
    assert str(network).splitlines() == [
        "PyTorch module Sequential: 4 inputs → classes not known yet, output logits",
        "  layer  shape  columns  used",
        "  0      6      6        no",
        "  1      6      6        yes",
        "  2      5      5        no",
        "  3      5      5        yes",
    ]
    assert network.n_inputs == 4


def test_a_module_that_is_called_twice_gives_both_results():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.act, self.last = nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)

        def forward(self, x):
            return self.last(self.act(self.fc(self.act(self.fc(x)))))

    module = seeded(Shared)
    values = parameters(module)
    first = relu(linear(X, values, "fc"))
    assert_layers(clausewise.wrap(module), X, {"act": first, "act (2)": relu(linear(first, values, "fc"))})


def test_weights_in_plain_functions_count_as_weights():
    class Functional(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.ParameterList([nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.randn(2, 3))])

        def forward(self, x):
            return F.linear(torch.tanh(x @ self.w[0]), self.w[1])

    module = seeded(Functional)
    expected = np.tanh(X @ module.w[0].detach().numpy())
    assert_layers(clausewise.wrap(module), X, {"tanh": expected})
    assert_layers(clausewise.wrap(Undecided(module)), X, {"inner.tanh": expected})


def test_steps_below_each_other_are_put_back_in_their_rows():
    class Folded(nn.Module):
        def __init__(self, by_step):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(28, 2)
            self.by_step = by_step

        def forward(self, x):
            n_rows, n_steps, n_inputs = x.shape
            x = x.transpose(0, 1) if self.by_step else x
            h = torch.tanh(self.b(F.relu(self.a(x.reshape(-1, n_inputs)))))
            h = h.view(n_steps, n_rows, -1).transpose(0, 1) if self.by_step else h
            return self.c(h.reshape(n_rows, -1))

    for by_step in (False, True):
        module = seeded(Folded, by_step)
        values = parameters(module)
        first = relu(linear(SEQUENCES, values, "a"))
        expected = {"relu": first, "tanh": np.tanh(linear(first, values, "b"))}
        assert_layers(clausewise.wrap(module), SEQUENCES, expected)


class Tokens(nn.Module):
    """Reads the positions of words."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 3), nn.Linear(15, 2)

    def forward(self, x):
        return self.head(self.embed(x).flatten(1))


@pytest.mark.parametrize("dtype", [np.int64, np.float64, object])
def test_whole_numbers_are_read_by_an_embedding(dtype):
    tokens = RNG.integers(0, 10, size=(25, 5))
    module = seeded(Tokens)
    expected = {"embed": parameters(module)["embed.weight"][tokens]}
    assert_layers(clausewise.wrap(module), tokens.astype(dtype), expected)


@pytest.mark.parametrize("dtype", [np.float64, object])
@pytest.mark.parametrize("row", [0, 20])
def test_numbers_with_a_fraction_are_not_cut_for_an_embedding(dtype, row):
    tokens = RNG.integers(0, 10, size=(25, 5)).astype(dtype)
    tokens[row, 2] = 1.9
    with pytest.raises(ValueError, match=r"reads whole numbers, .* X contains 1.9 \(1 such value\(s\)\)"):
        clausewise.wrap(seeded(Tokens)).labels(tokens)


@pytest.mark.parametrize(
    "around",
    [
        nn.DataParallel,
        lambda module: CompiledModule(module),
        lambda module: module.double(),
    ],
)
def test_wrappers_and_double_precision_change_nothing(around):
    module = seeded(dense, 4, 3, 2)
    expected = clausewise.wrap(copy.deepcopy(module)).probabilities(X)
    np.testing.assert_allclose(clausewise.wrap(around(module)).probabilities(X), expected, atol=1e-6)


class CompiledModule(nn.Module):
    """As torch.compile wraps a module, without compiling it."""

    def __init__(self, module):
        super().__init__()
        self._orig_mod = module


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_run_as_it_is(dtype):
    module = seeded(dense, 4, 3, 2)
    exact = next(clausewise.wrap(copy.deepcopy(module)).hidden_layers(X)).matrix
    (layer,) = clausewise.wrap(module.to(dtype)).hidden_layers(X)
    assert layer.matrix.dtype == np.float32
    np.testing.assert_allclose(layer.matrix, exact, atol=0.05)


@pytest.mark.parametrize(
    ("last", "n_outputs", "form"),
    [
        (nn.Softmax(dim=1), 3, "probabilities"),
        (nn.LogSoftmax(dim=1), 3, "logits"),
        (nn.Sigmoid(), 1, "probabilities"),
        (nn.Sigmoid(), 3, "sigmoids"),
        (nn.Identity(), 3, "logits"),
        (nn.Flatten(), 1, "logits"),
        (nn.Tanh(), 3, None),
    ],
)
def test_the_last_operation_says_what_the_output_means(last, n_outputs, form):
    module = nn.Sequential(dense(4, 5, n_outputs), last)
    assert TorchBackend(module).inspect(X).output == form
    assert TorchBackend(Undecided(module)).inspect(X).output == form


def test_a_mapping_with_logits_is_understood():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = dense(4, 3, 2)

        def forward(self, x, mask=None):
            if mask is not None:
                x = x * mask
            return {"logits": self.body(x), "loss": None}

    module = seeded(Named)
    np.testing.assert_allclose(clausewise.wrap(module).outputs(X), module.body(torch.tensor(X)).detach())


# --- What does not work, and what to do ---


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 2)

    def forward(self, x, y):
        return self.a(x + y)


class TwoOutputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 2)

    def forward(self, x):
        return self.a(x), x


class ByBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


@pytest.mark.parametrize(
    ("module", "rows", "message"),
    [
        (TwoInputs(), X, r"TwoInputs.forward takes 2 tensors \(x, y\). Pass inputs="),
        (TwoOutputs(), X, "returns a tuple with 0, 1; one tensor of class scores is needed"),
        (seeded(ByBatch), SEQUENCES, r"different outputs for the same row, .* \(batch_first\)"),
        (nn.Sequential(nn.LazyLinear(3)), X, "never used: '0.weight' gets its shape from the first rows"),
        (nn.Sequential(nn.Linear(4, 2, device="meta")), X, "'0.weight' is on the 'meta' device"),
        (dense(5, 3, 2), X, "X has 4 columns, but the network reads 5"),
        (
            Convolutional(),
            X,
            r"fails on rows of shape \(4,\): .*channels.* Pass rows like those it was trained on",
        ),
        (dense(4, 2), X, "has no hidden layer"),
    ],
)
def test_modules_that_cannot_be_read_say_why(module, rows, message):
    with pytest.raises(ValueError, match=message):
        clausewise.wrap(module).hidden_layers(rows)


@pytest.mark.parametrize("seed", range(20))
def test_outputs_that_depend_on_the_order_of_rows_are_noticed_however_small_the_effect(seed):
    torch.manual_seed(seed)
    with pytest.raises(ValueError, match="depending on the other rows"):
        clausewise.wrap(ByBatch()).labels(SEQUENCES)


def test_a_device_that_is_not_there_is_refused():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match="device is 'cuda', on which the module cannot run"):
        clausewise.wrap(dense(4, 3, 2), device="cuda")


def test_a_device_is_taken_as_given():
    module = seeded(dense, 4, 3, 2)
    expected = clausewise.wrap(module).outputs(X)
    np.testing.assert_array_equal(clausewise.wrap(module, device="cpu").outputs(X), expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_copy_runs_on_another_device():
    module = seeded(dense, 4, 3, 2)
    network = clausewise.wrap(module, device="cuda")
    np.testing.assert_allclose(network.outputs(X), clausewise.wrap(module).outputs(X), atol=1e-5)
    assert next(module.parameters()).device.type == "cpu"


@pytest.mark.filterwarnings("ignore")  # TorchScript is deprecated
def test_torchscript_is_refused_with_ways_out():
    with pytest.raises(TypeError, match=r"pass the nn.Module that it was made from, or export it to ONNX"):
        clausewise.wrap(torch.jit.script(dense(4, 3, 2)))


def test_nan_in_weights_is_reported():
    module = dense(4, 3, 2)
    with torch.no_grad():
        module[0].weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"The network's output is NaN or infinite for 40 of 40 rows"):
        clausewise.wrap(module).hidden_layers(X)
