import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.networks import ArrayNetwork, CallableNetwork

RNG = np.random.default_rng(0)
WEIGHTS = [RNG.normal(size=shape) for shape in ((4, 6), (6, 5), (5, 3))]
BIASES = [RNG.normal(size=len(matrix.T)) for matrix in WEIGHTS]
X = RNG.normal(size=(50, 4))


def network(**options):
    return ArrayNetwork(WEIGHTS, BIASES, **options)


@given(n_rows=st.integers(1, 50), batch_size=st.integers(1, 60))
def test_the_size_of_batches_changes_no_decision_and_no_activation(n_rows, batch_size):
    whole, parts = network(), network(batch_size=batch_size)
    np.testing.assert_array_equal(parts.labels(X[:n_rows]), whole.labels(X[:n_rows]))
    for one, other in zip(parts.hidden_layers(X[:n_rows]), whole.hidden_layers(X[:n_rows]), strict=True):
        np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-6)


def test_the_same_rows_give_the_same_answers_again():
    first, second = network(), network()
    np.testing.assert_array_equal(first.outputs(X), second.outputs(X))
    for one, other in zip(first.hidden_layers(X), first.hidden_layers(X), strict=True):
        np.testing.assert_array_equal(one.matrix, other.matrix)


def test_layers_are_chosen_when_wrapping_or_when_asking():
    chosen = network(layers="last 1")
    assert chosen.layer_names == ("hidden 2",)
    assert [layer.name for layer in chosen.hidden_layers(X)] == ["hidden 2"]
    assert [layer.name for layer in chosen.hidden_layers(X, layers=0)] == ["hidden 1"]


def test_a_layer_that_does_not_exist_is_refused_at_once():
    with pytest.raises(ValueError, match="There is no layer 'relu'; the layers are 'hidden 1', 'hidden 2'"):
        network(layers="relu")


def test_the_summary_shows_layers_and_which_are_used():
    assert str(network(layers="last 1", classes=["a", "b", "c"])) == (
        "network of 3 dense layers: 4 inputs → 3 classes (a, b, c), output logits\n"
        "  layer     shape  columns  used\n"
        "  hidden 1  6      6        no\n"
        "  hidden 2  5      5        yes"
    )


def test_layers_come_one_at_a_time():
    computed = []

    def layer(name):
        def give(rows):
            computed.append(name)
            return rows

        return give

    layers = CallableNetwork(lambda rows: rows > 0, {"a": layer("a"), "b": layer("b")}, output="sigmoids")
    stream = layers.inspect(X).hidden_layers(X)
    computed.clear()
    next(stream)
    assert set(computed) == {"a"}
    next(stream)
    assert set(computed) == {"a", "b"}


def test_wrong_columns_are_refused():
    with pytest.raises(ValueError, match="X has 3 columns, but the network reads 4; pass the columns"):
        network().labels(X[:, :3])


def test_rows_of_another_shape_than_before_are_refused():
    free = CallableNetwork(lambda rows: rows.reshape(len(rows), -1)[:, :2], output="logits").inspect(X)
    with pytest.raises(ValueError, match=r"rows of shape \(2, 2\), but earlier rows had shape \(4,\)"):
        free.labels(X.reshape(-1, 2, 2))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_inputs_that_are_no_numbers_are_refused(bad):
    rows = X.copy()
    rows[7, 2] = bad
    with pytest.raises(
        ValueError, match=r"1 value\(s\), the first in row 7, column 2; fill missing values in"
    ):
        network(batch_size=5).labels(rows)


def test_activations_that_are_not_numbers_are_counted_per_layer():
    def broken(rows):
        values = rows.copy()
        values[rows[:, 0] > 0, 1] = np.nan
        return values

    noisy = CallableNetwork(
        lambda rows: rows[:, :2], {"fine": lambda r: r, "broken": broken}, output="logits"
    )
    n_bad = int((X[:, 0] > 0).sum())
    message = f"Layer 'broken' is NaN or infinite for {n_bad} of 200 activations, in {n_bad} of 50 rows"
    with pytest.raises(ValueError, match=message):
        list(noisy.hidden_layers(X))


def test_large_but_finite_activations_are_let_through():
    big = CallableNetwork(lambda rows: rows[:, :2], {"big": lambda r: r * 0 + 3e38}, output="logits")
    (layer,) = big.hidden_layers(X)
    assert np.isfinite(layer.matrix).all()


@pytest.mark.parametrize(
    "scores",
    [
        lambda rows: rows[:, :2] * np.nan,
        lambda rows: np.full((len(rows), 2), [0.0, np.inf]),
        lambda rows: np.full((len(rows), 2), -np.inf),
    ],
)
def test_an_output_that_is_no_number_is_refused(scores):
    with pytest.raises(ValueError, match="The network's output is NaN or infinite for 50 of 50 rows"):
        CallableNetwork(scores, output="logits").labels(X)


def test_the_logarithm_of_an_impossible_class_is_let_through():
    def scores(rows):
        return np.where(rows[:, :1] > 0, [-np.inf, 0.0], [0.0, -np.inf])

    certain = CallableNetwork(scores, output="logits")
    np.testing.assert_array_equal(certain.codes(X), X[:, 0] > 0)
    np.testing.assert_array_equal(certain.probabilities(X)[:, 1], X[:, 0] > 0)


def test_impossible_classes_do_not_hide_an_output_that_depends_on_other_rows():
    def scores(rows):
        return np.column_stack([rows - rows.mean(axis=0), np.full(len(rows), -np.inf)])

    with pytest.raises(ValueError, match="different outputs for the same row"):
        CallableNetwork(scores, output="logits").labels(X)


def test_an_output_that_depends_on_other_rows_is_refused():
    with pytest.raises(ValueError, match="different outputs for the same row, depending on the other rows"):
        CallableNetwork(lambda rows: rows - rows.mean(axis=0), output="logits").labels(X)


def by_chance(rng):
    """Networks that answer a row differently each time, some of them rarely or a little."""
    weights = rng.normal(size=(4, 8)), rng.normal(size=(8, 3))

    def hidden(rows):
        return np.maximum(rows @ weights[0], 0)

    def dropout(rows):
        kept = hidden(rows)
        return kept * (rng.random(kept.shape) > 0.02) @ weights[1]

    def weights_drawn(rows):  # once per call, the same for all rows
        return hidden(rows) @ (weights[1] * rng.normal(1, 0.02, size=weights[1].shape))

    def noise(rows):
        return hidden(rows) @ weights[1] + rng.normal(scale=0.05, size=(len(rows), 3))

    def labels(rows):
        return np.where(rng.random((len(rows), 1)) < 0.1, [[0.0, 1.0]], [[1.0, 0.0]])

    return [dropout, weights_drawn, noise, labels, lambda rows: rng.normal(size=(len(rows), 2))]


@pytest.mark.parametrize("seed", range(20))
def test_an_answer_at_random_is_refused(seed):
    rows = np.random.default_rng(seed).normal(size=(200, 4))
    for scores in by_chance(np.random.default_rng(seed)):
        with pytest.raises(ValueError, match="when they are evaluated again, so it answers at random"):
            CallableNetwork(scores, output="logits").labels(rows)


def test_a_scale_that_depends_on_the_batch_is_let_through():
    weights = RNG.normal(size=(4, 8)), RNG.normal(size=(8, 3))

    def rounded(values):  # 8 bits between the smallest and the largest number of the batch
        scale = (values.max() - values.min()) / 255
        return np.round(values / scale) * scale

    def scores(rows):
        return rounded(np.maximum(rounded(rows) @ weights[0], 0)) @ weights[1]

    assert len(CallableNetwork(scores, output="logits").labels(RNG.normal(size=(200, 4)))) == 200


def test_a_network_is_asked_about_few_rows_before_it_is_used():
    asked = []

    def scores(rows):
        asked.append(len(rows))
        return rows[:, :2]

    free = CallableNetwork(scores, output="logits")
    rows = RNG.normal(size=(5_000, 4))
    free.labels(rows)
    free.labels(rows)
    # Inspection, the same rows twice, the last of them alone; then all rows, and only these the second time.
    assert asked == [4, 128, 128, 1, 5_000, 5_000]


def test_a_network_without_a_hidden_layer_is_explained():
    flat = ArrayNetwork(WEIGHTS[-1:], BIASES[-1:])
    with pytest.raises(ValueError, match=r"has no hidden layer.*use the pedagogical method"):
        flat.hidden_layers(RNG.normal(size=(5, 5)))
    assert "no hidden layer" in str(flat)


def test_a_layer_without_units_is_named():
    empty = [np.ones((4, 6)), np.ones((6, 0)), np.ones((0, 3))]
    biases = [np.zeros(matrix.shape[1]) for matrix in empty]
    with pytest.raises(
        ValueError, match=r"Layer 'hidden 2' of shape \(0,\) has no units; choose other layers"
    ):
        ArrayNetwork(empty, biases)
    assert ArrayNetwork(empty, biases, layers="hidden 1").layer_names == ("hidden 1",)


def test_a_layer_that_is_too_wide_is_refused_with_ways_out():
    with pytest.raises(
        ValueError,
        match=r"Layer 'hidden 1' of shape \(6,\) has 6 columns .* more than max_units=5; pass reduce='mean'",
    ):
        network(max_units=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": ["a", "b"]}, r"classes has 2 labels \(a, b\), but the network's output has 3 column"),
        ({"classes": ["a", "b", "a"]}, "classes contains a label twice"),
        ({"batch_size": 0}, "batch_size is 0; expected a whole number of 1 or more or 'auto'"),
        ({"max_units": 1.5}, "max_units is 1.5; expected a whole number"),
        ({"reduce": {"hidden 9": "mean"}}, "reduce has the key 'hidden 9', which is not a layer"),
        ({"reduce": "sum"}, "reduce is 'sum'; expected 'flatten', 'mean', 'max' or 'last'"),
        ({"reduce": {"hidden 1": "sum"}}, "reduce is {'hidden 1': 'sum'}; expected 'flatten'"),
        ({"feature_names": "abcd"}, "feature_names is 'abcd'; expected an array or a list"),
        ({"output": [50, 20]}, r"output is \[50, 20\]; expected 'softmax'.* clausewise.wrap"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        network(**options).labels(X)


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        network().labels(X[:0])


def test_rows_are_never_changed():
    before = X.copy()
    list(network().hidden_layers(X))
    np.testing.assert_array_equal(X, before)
