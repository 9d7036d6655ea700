import numpy as np
import pytest

import clausewise
from clausewise.networks import CallableNetwork

X = np.random.default_rng(0).normal(size=(30, 3))


def labels(rows):
    return np.where(rows[:, 0] > 0, "up", "down")


def shares(rows):
    up = 1 / (1 + np.exp(-rows[:, 0]))
    return np.column_stack([1 - up, up])


def test_layers_are_what_the_functions_give():
    network = CallableNetwork(
        shares,
        {"squares": lambda rows: rows**2, "sum": lambda rows: rows.sum(axis=1)},
        classes=["down", "up"],
    )
    squares, total = network.hidden_layers(X)
    np.testing.assert_allclose(squares.matrix, X**2, rtol=1e-6)
    np.testing.assert_allclose(total.matrix[:, 0], X.sum(axis=1), rtol=1e-5, atol=1e-6)
    assert total.unit_names == ("sum",)
    assert network.labels(X).tolist() == labels(X).tolist()


def test_a_layer_may_be_called_output():
    network = CallableNetwork(shares, {"output": lambda rows: rows**2})
    (layer,) = network.hidden_layers(X)
    np.testing.assert_allclose(layer.matrix, X**2, rtol=1e-6)
    np.testing.assert_allclose(network.outputs(X), shares(X))


def test_a_function_may_give_labels_themselves():
    network = CallableNetwork(labels, {"all": lambda rows: rows}, classes=["down", "up"])
    assert network.labels(X).tolist() == labels(X).tolist()
    np.testing.assert_array_equal(network.probabilities(X)[:, 1], X[:, 0] > 0)


@pytest.mark.parametrize(
    ("predict", "output"),
    [
        (lambda rows: shares(rows)[:, 1], "probabilities"),
        (lambda rows: rows[:, 0], "logits"),
        (lambda rows: rows[:, 0], [0.0]),
        (lambda rows: rows[:, 0], lambda values: 1 / (1 + np.exp(-values))),
    ],
)
def test_one_number_per_row_is_what_the_caller_says(predict, output):
    network = CallableNetwork(predict, output=output, classes=["down", "up"])
    assert network.labels(X).tolist() == labels(X).tolist()


def test_labels_may_be_stated():
    network = CallableNetwork(labels, output="labels", classes=["down", "up"])
    assert network.labels(X).tolist() == labels(X).tolist()


def test_layers_of_sequences_are_steps_of_units():
    network = CallableNetwork(shares, {"pairs": lambda rows: rows[:, :, None] * [1.0, 2.0]})
    (layer,) = network.hidden_layers(X)
    assert layer.unit_names[-1] == "pairs[t=2, 1]"
    np.testing.assert_allclose(layer.matrix[:, -1], 2 * X[:, 2], rtol=1e-6)


def test_layers_to_use_may_be_chosen():
    layers = {"first": lambda rows: rows, "second": lambda rows: rows[:, :1]}
    assert CallableNetwork(shares, layers, use="last 1").inspect(X).layer_names == ("second",)


def test_without_layers_the_message_says_what_can_be_done():
    with pytest.raises(ValueError, match=r"function shares has no hidden layer.*use the pedagogical method"):
        CallableNetwork(shares).hidden_layers(X)


def test_the_layers_are_not_known_before_rows_are_seen():
    network = CallableNetwork(shares, {"all": lambda rows: rows})
    with pytest.raises(ValueError, match=r"does not define the layers by itself; call network.inspect\(X\)"):
        network.layer_names  # noqa: B018
    assert "layers: not known yet" in str(network)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (CallableNetwork(labels), "predict returns one label per row; pass classes="),
        (
            CallableNetwork(labels, classes=["up", "level"]),
            "returned the label 'down', which is not one of the classes",
        ),
        (
            CallableNetwork(lambda rows: shares(rows)[:-1]),
            r"'predict' returned an array of shape \(3, 2\) for 4 rows",
        ),
        (CallableNetwork(shares, n_inputs=5), "X has 3 columns, but the network reads 5"),
        (CallableNetwork(shares, classes=["a", "b", "c"]), r"classes has 3 labels \(a, b, c\).* 2 column"),
    ],
)
def test_answers_that_do_not_fit_are_refused(network, message):
    with pytest.raises(ValueError, match=message):
        network.labels(X)


def test_what_is_not_a_function_is_refused():
    with pytest.raises(
        TypeError, match=r"layers\['first'\] is array.*; expected a function of an array of rows"
    ):
        CallableNetwork(shares, {"first": X})


def test_wrapping_again_gives_the_network_itself():
    network = CallableNetwork(shares)
    assert clausewise.wrap(network) is network
    with pytest.raises(ValueError, match="already a Network; pass layers when it is first wrapped"):
        clausewise.wrap(network, layers="last 1")
    with pytest.raises(ValueError, match="already a Network; pass layers, classes when it is first wrapped"):
        clausewise.wrap(network, classes=np.array(["down", "up"]), layers=np.array([0, 1]))
    with pytest.raises(ValueError, match="already a Network; pass batch_size when it is first wrapped"):
        clausewise.wrap(network, batch_size=5)


# --- Tables ---

JOBS = ["baker", "clerk", "smith"]


def paid(rows):
    """A function of a DataFrame, by column names."""
    pay = np.asarray(rows["age"], dtype=float) + 30 * (np.asarray(rows["job"]) == "smith")
    return np.where(pay > 60, "well", "badly")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_with_text_is_passed_on_as_it_is(library):
    made = pytest.importorskip(library, reason=f"{library} is not installed")
    draw = np.random.default_rng(0)
    columns = {
        "age": draw.integers(18, 80, 300),
        "job": draw.choice(JOBS, 300),
        "other": draw.normal(size=300),
    }
    table = made.table(columns) if library == "pyarrow" else made.DataFrame(columns)
    seen = set()

    def predict(rows):
        seen.add((type(rows), tuple(getattr(rows, "column_names", getattr(rows, "columns", ())))))
        return paid(rows)

    network = CallableNetwork(
        predict,
        {"age": lambda rows: np.asarray(rows["age"], dtype=float)},
        classes=["badly", "well"],
        feature_names=["age", "job"],
        batch_size=50,
    )
    assert network.labels(table).tolist() == paid(table).tolist()
    assert seen == {(type(table), ("age", "job"))}
    (layer,) = network.hidden_layers(table)
    np.testing.assert_array_equal(layer.matrix[:, 0], columns["age"])
    rules = clausewise.extract(network, table, method="pedagogical")
    assert (rules.predict(table) == paid(table)).mean() > 0.95


def test_a_table_of_numbers_is_passed_on_as_an_array():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    network = CallableNetwork(labels, classes=["down", "up"])
    assert network.labels(table).tolist() == labels(X).tolist()
    assert network.labels(table.astype(object)).tolist() == labels(X).tolist()
