"""Models with several inputs and several results, in PyTorch and Keras."""

import threading
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

import clausewise  # noqa: E402
from clausewise.networks import ArrayNetwork, CallableNetwork  # noqa: E402
from clausewise.networks.torch_trace import TracedProgram  # noqa: E402

DRAW = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": DRAW.normal(size=60),
        "region": DRAW.integers(0, 4, 60),
        "income": DRAW.normal(size=60),
        "job": DRAW.integers(0, 3, 60),
        "note": DRAW.normal(size=60),
    }
)
INPUTS = {"numeric": ["age", "income"], "codes": ["region", "job"]}


class TwoInputs(nn.Module):
    """Numbers and codes of categories, each with an embedding."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.region, self.job = nn.Embedding(4, 3), nn.Embedding(3, 2)
        self.hidden, self.out = nn.Linear(7, 6), nn.Linear(6, 2)

    def scores(self, numeric, codes):
        both = torch.cat([numeric, self.region(codes[:, 0]), self.job(codes[:, 1])], dim=1)
        return self.out(F.relu(self.hidden(both)))

    def forward(self, numeric, codes):
        return self.scores(numeric, codes)


class OfMapping(TwoInputs):
    def forward(self, batch):
        return self.scores(batch["numeric"], batch["codes"])


class OfTuple(TwoInputs):
    def forward(self, batch):
        numeric, codes = batch
        return self.scores(numeric, codes)


class WithOptions(TwoInputs):
    def forward(self, codes=None, *, numeric=None, unused=None, **more):
        return self.scores(numeric, codes)


class Untraceable(TwoInputs):
    """Its code depends on values, so that its steps are recorded."""

    def forward(self, numeric, codes):
        if float(numeric.sum()) > 1e9:
            raise RuntimeError
        return self.scores(numeric, codes)


def tensors(table):
    numeric = torch.tensor(table[INPUTS["numeric"]].to_numpy(), dtype=torch.float32)
    return numeric, torch.tensor(table[INPUTS["codes"]].to_numpy(copy=True))


def expected(module, table=TABLE):
    with torch.no_grad():
        numeric, codes = tensors(table)
        hidden = torch.cat([numeric, module.region(codes[:, 0]), module.job(codes[:, 1])], dim=1)
        return F.relu(module.hidden(hidden)).numpy(), module.scores(numeric, codes).numpy()


def as_named(rows):
    return dict(zip(("numeric", "codes"), tensors(rows), strict=True))


@pytest.mark.parametrize("kind", [TwoInputs, OfMapping, WithOptions, Untraceable])
@pytest.mark.parametrize("inputs", [INPUTS, as_named], ids=["columns", "function"])
def test_a_module_gets_its_inputs_and_its_layers_are_found(kind, inputs):
    module = kind()
    network = clausewise.wrap(module, inputs=inputs).inspect(TABLE)
    hidden, scores = expected(module)
    np.testing.assert_allclose(network.outputs(TABLE), scores, atol=1e-6)
    layers = {layer.name: layer.matrix for layer in network.hidden_layers(TABLE)}
    assert list(layers) == ["cat", "relu"]
    np.testing.assert_allclose(layers["relu"], hidden, atol=1e-6)
    is_traced = isinstance(network._backend._program, TracedProgram)
    assert is_traced == (kind is not Untraceable)


@pytest.mark.parametrize("kind", [TwoInputs, OfTuple])
def test_a_function_may_return_a_tuple(kind):
    module = kind()
    network = clausewise.wrap(module, inputs=tensors)
    np.testing.assert_allclose(network.outputs(TABLE), expected(module)[1], atol=1e-6)


def test_a_function_may_return_one_tensor():
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    network = clausewise.wrap(module, inputs=lambda rows: tensors(rows)[0])
    rows = TABLE[INPUTS["numeric"]].to_numpy()
    np.testing.assert_allclose(network.outputs(TABLE), clausewise.wrap(module).outputs(rows), atol=1e-6)
    assert [layer.matrix.shape for layer in network.hidden_layers(TABLE)] == [(60, 3)]


def test_columns_are_chosen_by_position_and_by_name_of_an_array():
    module = TwoInputs()
    scores = expected(module)[1]
    by_position = clausewise.wrap(module, inputs={"codes": [1, 3], "numeric": [0, -3]})
    by_name = clausewise.wrap(module, inputs=INPUTS, feature_names=list(TABLE))
    for rows in (TABLE, TABLE.to_numpy()):
        np.testing.assert_allclose(by_position.outputs(rows), scores, atol=1e-6)
    np.testing.assert_allclose(by_name.outputs(TABLE.to_numpy()), scores, atol=1e-6)


def test_a_single_column_has_no_second_axis():
    class OneCode(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.out = nn.Embedding(4, 3), nn.Linear(4, 2)

        def forward(self, x, code):
            return self.out(torch.cat([x, self.embed(code)], dim=1))

    network = clausewise.wrap(OneCode(), inputs={"x": ["age"], "code": "region"}).inspect(TABLE)
    assert network.layer_names == ("cat",)


def test_rules_test_raw_columns_and_codes_of_embeddings_are_categories():
    network = clausewise.wrap(TwoInputs(), inputs=INPUTS, classes=["no", "yes"])
    features = network.features(TABLE)
    kinds = dict(zip(features.names, features.kinds, strict=True))
    assert kinds == dict.fromkeys(["age", "income", "note"], "numeric") | dict.fromkeys(
        ["region", "job"], "categorical"
    )
    assert network.reads(TABLE).tolist() == [True, True, True, True, False]
    assert [column.sources for column in network.input_columns(TABLE)] == [
        ("age",),
        ("income",),
        ("region",),
        ("job",),
    ]
    model = clausewise.ECLAIRE(network, max_rules=6, n_jobs=1).fit(TABLE)
    assert model.fidelity(TABLE) > 0.8
    assert "note" not in str(model.rules_)
    assert model.rules_.evaluate(TABLE, network=network).fidelity == model.fidelity(TABLE)
    again = clone(model).set_params(n_jobs=2).fit(TABLE)
    assert again.rules_ == model.rules_


def test_preprocessing_comes_before_the_inputs():
    raw = TABLE.assign(
        region=np.array(list("abcd"))[TABLE["region"]], job=np.array(list("xyz"))[TABLE["job"]]
    )
    encoder = OrdinalEncoder().fit(raw[["region", "job"]])

    def encoded(rows):
        return np.column_stack([encoder.transform(rows[["region", "job"]]), rows[["age", "income"]]])

    module = TwoInputs()
    network = clausewise.wrap(
        module, preprocess=FunctionTransformer(encoded), inputs={"codes": [0, 1], "numeric": [2, 3]}
    )
    np.testing.assert_allclose(network.outputs(raw), expected(module)[1], atol=1e-6)
    features = network.features(raw)
    assert dict(zip(features.names, features.kinds, strict=True))["region"] == "categorical"


def test_batches_and_threads_change_nothing():
    module = TwoInputs()
    network = clausewise.wrap(module, inputs=INPUTS, batch_size=7)
    whole = clausewise.wrap(module, inputs=INPUTS)
    found = {}

    def ask(number):
        found[number] = network.run(TABLE)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run in found.values():
        np.testing.assert_allclose(run.probabilities, whole.probabilities(TABLE), atol=1e-6)
        assert [layer.name for layer in run.layers] == ["cat", "relu"]


def test_outputs_that_depend_on_other_rows_are_noticed():
    class Centred(TwoInputs):
        def forward(self, numeric, codes):
            return self.scores(numeric - numeric.mean(dim=0), codes)

    with pytest.raises(ValueError, match="depending on the other rows"):
        clausewise.wrap(Centred(), inputs=INPUTS).outputs(TABLE)


def test_whole_numbers_that_single_precision_cannot_hold_reach_an_embedding():
    class Hashed(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.out = nn.Embedding(2, 3), nn.Linear(4, 2)

        def forward(self, x, code):
            return self.out(torch.cat([x, self.embed(code % 2)], dim=1))

    rows = pd.DataFrame({"x": np.zeros(6), "code": 2**24 + np.arange(6)})
    outputs = clausewise.wrap(Hashed(), inputs={"x": ["x"], "code": "code"}).outputs(rows)
    assert len(np.unique(outputs[:, 0])) == 2


class Tokens(nn.Module):
    """Reads token numbers and a mask by name, as language models do, and returns a dictionary."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.out = nn.Embedding(9, 4), nn.Linear(4, 2)
        self.encoder = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)

    def forward(self, input_ids=None, attention_mask=None, labels=None):
        steps = self.encoder(self.embed(input_ids), src_key_padding_mask=~attention_mask)
        pooled = (steps * attention_mask[..., None]).sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)
        return {"loss": labels, "logits": self.out(pooled)}


def test_token_numbers_and_a_mask_are_made_by_a_function():
    texts = np.array(["a b c", "d", "b b a e", "c d"] * 3, dtype=object)
    number = {letter: place for place, letter in enumerate("abcde", start=1)}

    def tokens(rows):
        ids = np.array([[*map(number.get, text.split()), 0, 0, 0, 0][:4] for text in rows])
        return {"input_ids": ids, "attention_mask": ids > 0}

    module = Tokens()
    network = clausewise.wrap(
        module,
        inputs=tokens,
        features=lambda rows: pd.DataFrame({"words": [len(text.split()) for text in rows]}),
        reduce="mean",
    )
    made = {key: torch.tensor(array) for key, array in tokens(texts).items()}
    with torch.no_grad():
        scores = module.eval()(**made)["logits"].numpy()
    np.testing.assert_allclose(network.outputs(texts), scores, atol=1e-6)
    assert network.layer_names[0] == "embed"
    assert network.features(texts).names == ("words",)


def test_a_skorch_net_has_several_inputs_too():
    skorch = pytest.importorskip("skorch", reason="skorch is not installed")
    rows = {key: part.numpy() for key, part in as_named(TABLE).items()}
    net = skorch.NeuralNetClassifier(TwoInputs, criterion=nn.CrossEntropyLoss, max_epochs=1, verbose=0)
    net.fit(rows, np.array(TABLE["age"] > 0, dtype=np.int64))
    network = clausewise.wrap(net, inputs=INPUTS)
    np.testing.assert_array_equal(network.labels(TABLE), net.predict(rows))


def test_the_summary_names_the_inputs():
    network = clausewise.wrap(TwoInputs(), inputs=INPUTS, classes=["no", "yes"])
    assert str(network).startswith("PyTorch module TwoInputs: inputs numeric (2), codes (2) → 2 classes")


@pytest.mark.parametrize(
    ("module", "inputs", "rows", "message"),
    [
        (TwoInputs(), None, TABLE, r"takes 2 tensors \(numeric, codes\). Pass inputs=\{'numeric': \[…\], "),
        (
            TwoInputs(),
            {"numeric": ["age"]},
            TABLE,
            "forward takes numeric, codes, but inputs= has no 'codes'",
        ),
        (
            TwoInputs(),
            {"number": ["age"], "codes": [0]},
            TABLE,
            "takes numeric, codes, but inputs= has 'number'",
        ),
        (TwoInputs(), lambda rows: tensors(rows) * 2, TABLE, "but inputs= returns 4 arrays; return one"),
        (
            TwoInputs(),
            {**INPUTS, "numeric": ["wage"]},
            TABLE,
            "names the column 'wage', which X does not have",
        ),
        (TwoInputs(), INPUTS, TABLE.to_numpy(), "names the column 'age', but X has no column names"),
        (TwoInputs(), {"numeric": [9], "codes": [1]}, TABLE, "has the column 9, but X has 5 columns"),
        (TwoInputs(), INPUTS, TABLE.assign(region=0.5), "reads whole numbers, .* but X contains 0.5"),
        (TwoInputs(), INPUTS, TABLE.assign(age=np.nan), "The input 'numeric' contains NaN or infinity: 4"),
        (
            TwoInputs(),
            INPUTS,
            TABLE.assign(region=7),
            "fails on rows of shape numeric .2,., codes .2,.: index",
        ),
        (
            TwoInputs(),
            lambda rows: {"numeric": [1.0]},
            TABLE,
            r"array of shape \(1,\) as 'numeric' for 4 rows",
        ),
        (TwoInputs(), lambda rows: {}, TABLE, "returned nothing; return an array"),
        (TwoInputs(), INPUTS, np.zeros((5, 2, 2)), "inputs= chooses columns of a table"),
    ],
)
def test_errors_say_what_to_do(module, inputs, rows, message):
    with pytest.raises(ValueError, match=message):
        clausewise.wrap(module, inputs=inputs).outputs(rows)


@pytest.mark.parametrize("inputs", [{}, {"a": []}, {"a": [1.5]}, {1: [0]}, "numeric", int])
def test_other_values_of_inputs_are_refused(inputs):
    with pytest.raises(ValueError, match="expected None or a mapping from the names of the model's inputs"):
        clausewise.wrap(TwoInputs(), inputs=inputs)


def test_models_of_one_table_have_no_inputs():
    with pytest.raises(
        ValueError, match="function <lambda> reads one table; inputs= is for PyTorch and Keras"
    ):
        CallableNetwork(lambda X: X, inputs={"a": [0]})
    network = ArrayNetwork([np.eye(2), np.eye(2)], [np.zeros(2), np.zeros(2)])
    with pytest.raises(ValueError, match="already a Network; pass inputs"):
        clausewise.wrap(network, inputs={"a": [0]})
    with pytest.raises(ValueError, match="output_key= is for PyTorch and Keras models"):
        clausewise.wrap("model.onnx", output_key=0)


# --- Results with several parts ---


class Pair(NamedTuple):
    state: torch.Tensor
    scores: torch.Tensor


@dataclass
class Parts:
    state: torch.Tensor
    scores: torch.Tensor


class Returning(nn.Module):
    def __init__(self, pack):
        super().__init__()
        torch.manual_seed(0)
        self.hidden, self.out, self.pack = nn.Linear(3, 4), nn.Linear(4, 2), pack

    def forward(self, x):
        state = F.relu(self.hidden(x))
        return self.pack(state, self.out(state))


class RecurrentPair(nn.Module):
    """Its last step computes both results."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.gru = nn.Linear(3, 4), nn.GRU(4, 2, batch_first=True)

    def forward(self, x):
        steps, _ = self.gru(self.first(x))
        return steps[:, -1].split([2, 0], dim=1)


ROWS = DRAW.normal(size=(20, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("pack", "key"),
    [
        (lambda state, scores: (state, scores), 1),
        (lambda state, scores: [scores, state], 0),
        (lambda state, scores: {"state": state, "scores": scores}, "scores"),
        (lambda state, scores: {"state": state, "logits": scores}, None),
        (Pair, "scores"),
        (Pair, 1),
        (Parts, "scores"),
        (lambda state, scores: {"all": {"logits": scores}, "state": state}, "all"),
    ],
)
def test_the_class_scores_are_chosen_among_several_results(pack, key):
    network = clausewise.wrap(Returning(pack), output_key=key)
    plain = clausewise.wrap(Returning(lambda state, scores: scores))
    np.testing.assert_array_equal(network.outputs(ROWS), plain.outputs(ROWS))
    assert network.layer_names == plain.layer_names == ("relu",)


def test_one_step_may_compute_several_results():
    network = clausewise.wrap(RecurrentPair(), output_key=0, output="logits")
    assert network.outputs(DRAW.normal(size=(5, 4, 3)).astype(np.float32)).shape == (5, 2)


def test_a_result_with_several_parts_needs_a_choice():
    with pytest.raises(ValueError, match=r"returns a tuple with 0, 1; .* Pass output_key= with the name or"):
        clausewise.wrap(Returning(lambda state, scores: (state, scores)))
    with pytest.raises(ValueError, match="output_key is 'scores', but the model returns a tuple with 0, 1"):
        clausewise.wrap(Returning(lambda state, scores: (state, scores)), output_key="scores")
    with pytest.raises(ValueError, match=r"output_key is 1\.5; expected None or text"):
        clausewise.wrap(Returning(Pair), output_key=1.5)


# --- Keras ---

keras = pytest.importorskip("keras", reason="Keras is not installed")


def keras_inputs():
    numeric = keras.Input((2,), name="numeric")
    return numeric, keras.Input((2,), dtype="int32", name="codes")


def embedded(numeric, codes):
    looked_up = keras.layers.Flatten(name="flat")(keras.layers.Embedding(4, 3, name="embed")(codes))
    return keras.layers.Concatenate(name="both")([numeric, looked_up])


def functional(pack):
    """Return a model whose inputs have the structure that `pack` makes of them."""
    keras.utils.set_random_seed(0)
    numeric, codes = keras_inputs()
    hidden = keras.layers.Dense(5, "relu", name="hidden")(embedded(numeric, codes))
    scores = keras.layers.Dense(2, "softmax", name="out")(hidden)
    return keras.Model(pack(numeric, codes), scores)


def nested():
    """Return a model that contains another one with several inputs."""
    keras.utils.set_random_seed(0)
    numeric, codes = keras_inputs()
    inner = keras.Model(
        [numeric, codes], keras.layers.Dense(5, "relu", name="hidden")(embedded(numeric, codes))
    )
    inner.name = "inner"
    outer = [keras.Input((2,), name="numeric"), keras.Input((2,), dtype="int32", name="codes")]
    return keras.Model(outer, keras.layers.Dense(2, "softmax", name="out")(inner(outer)))


def keras_arrays(rows):
    return rows[INPUTS["numeric"]].to_numpy("float32"), rows[INPUTS["codes"]].to_numpy("int32")


def called(model, rows=TABLE):
    numeric, codes = keras_arrays(rows)
    return model({"numeric": numeric, "codes": codes}).detach().numpy()


@pytest.mark.parametrize(
    ("build", "layers"),
    [
        (lambda: functional(lambda numeric, codes: [numeric, codes]), ("both", "hidden")),
        (lambda: functional(lambda numeric, codes: {"codes": codes, "numeric": numeric}), ("both", "hidden")),
        (nested, ("inner.both", "inner.hidden")),
    ],
    ids=["list", "dictionary", "nested"],
)
def test_a_keras_model_gets_its_inputs_and_its_layers_are_found(build, layers):
    model = build()
    network = clausewise.wrap(model, inputs=INPUTS).inspect(TABLE)
    np.testing.assert_allclose(network.outputs(TABLE), called(model), atol=1e-6)
    assert network.layer_names == layers
    features = network.features(TABLE)
    assert [
        name for name, kind in zip(features.names, features.kinds, strict=True) if kind == "categorical"
    ] == [
        "region",
        "job",
    ]
    assert network.reads(TABLE).tolist() == [True, True, True, True, False]


def test_functions_make_the_inputs_of_keras_models():
    listed = functional(lambda numeric, codes: [numeric, codes])
    network = clausewise.wrap(listed, inputs=keras_arrays)
    np.testing.assert_allclose(network.outputs(TABLE), called(listed), atol=1e-6)
    keyed = functional(lambda numeric, codes: {"numeric": numeric, "codes": codes})
    named = clausewise.wrap(
        keyed, inputs=lambda rows: dict(zip(("numeric", "codes"), keras_arrays(rows), strict=True))
    )
    np.testing.assert_allclose(named.outputs(TABLE), called(listed), atol=1e-6)


def test_a_sequential_model_may_have_its_input_made_by_a_function():
    dense = keras.layers.Dense(3, "relu", name="hidden")
    model = keras.Sequential([keras.Input((2,), name="rows"), dense, keras.layers.Dense(2, "softmax")])
    made = clausewise.wrap(model, inputs=lambda rows: keras_arrays(rows)[0])
    chosen = clausewise.wrap(model, inputs={"rows": INPUTS["numeric"]})
    plain = clausewise.wrap(model).outputs(TABLE[INPUTS["numeric"]].to_numpy())
    for network in (made, chosen):
        np.testing.assert_allclose(network.outputs(TABLE), plain, atol=1e-6)
        assert network.layer_names == ("hidden",)


class OwnCall(keras.Model):
    def __init__(self):
        super().__init__()
        keras.utils.set_random_seed(0)
        self.embed, self.hidden = keras.layers.Embedding(4, 3), keras.layers.Dense(5, "relu")
        self.out = keras.layers.Dense(2, "softmax")

    def scores(self, numeric, codes):
        looked_up = keras.ops.reshape(self.embed(codes), (-1, 6))
        return self.out(self.hidden(keras.ops.concatenate([numeric, looked_up], axis=1)))


class CallOfMapping(OwnCall):
    def call(self, batch, training=None):
        return self.scores(batch["numeric"], batch["codes"])


class CallOfTwo(OwnCall):
    def call(self, numeric, codes):
        return self.scores(numeric, codes)


def test_keras_models_with_their_own_call_get_their_inputs():
    numeric, codes = keras_arrays(TABLE)
    mapping, two = CallOfMapping(), CallOfTwo()
    first = mapping({"numeric": numeric, "codes": codes})
    second = two(numeric, codes)
    for model, scores in ((mapping, first), (two, second)):
        network = clausewise.wrap(model, inputs=INPUTS)
        np.testing.assert_allclose(network.outputs(TABLE), scores.detach().numpy(), atol=1e-6)
        assert len(network.layer_names) == 2


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_saved_keras_model_has_several_inputs_too(tmp_path):
    model = functional(lambda numeric, codes: [numeric, codes])
    model.save(tmp_path / "model.keras")
    network = clausewise.wrap(tmp_path / "model.keras", inputs=INPUTS)
    np.testing.assert_allclose(network.outputs(TABLE), called(model), atol=1e-6)


def test_the_class_scores_are_chosen_among_the_outputs_of_a_keras_model():
    keras.utils.set_random_seed(0)
    rows = keras.Input((3,))
    hidden = keras.layers.Dense(4, "relu", name="hidden")(rows)
    outputs = [
        keras.layers.Dense(1, name="size")(hidden),
        keras.layers.Dense(2, "softmax", name="kind")(hidden),
    ]
    network = clausewise.wrap(keras.Model(rows, outputs), output_key=1)
    assert network.outputs(ROWS).shape == (20, 2)
    assert network.layer_names == ("hidden",)
    with pytest.raises(ValueError, match=r"returns a list with 0, 1; .* output_key="):
        clausewise.wrap(keras.Model(rows, outputs))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (None, r"has 2 inputs \(numeric, codes\). Pass inputs=\{'numeric': \[…\], 'codes': \[…\]\}"),
        ({"numeric": ["age"]}, r"has 2 inputs \(numeric, codes\), but inputs= has numeric; pass one entry"),
        ({"numbers": ["age"], "codes": ["job"]}, "but inputs= has numbers, codes; pass one entry for each"),
    ],
)
def test_keras_errors_say_what_to_do(inputs, message):
    with pytest.raises(ValueError, match=message):
        clausewise.wrap(functional(lambda numeric, codes: [numeric, codes]), inputs=inputs).outputs(TABLE)
