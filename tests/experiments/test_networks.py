"""Networks are trained as in the paper, reproducibly, and take raw rows."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clausewise_experiments import load_settings, load_task
from clausewise_experiments.architectures import candidates
from clausewise_experiments.cells import PreparedTask
from clausewise_experiments.data import DataNotFoundError
from clausewise_experiments.folds import fold_of
from clausewise_experiments.networks import TrainedNetwork, network_key, network_of, scaling_of
from clausewise_experiments.settings import NetworkSettings, Scale
from clausewise_experiments.training import balanced_weights, build, train
from tests.experiments.torch_state import torch_as_it_was

SMALL = NetworkSettings(hidden=(8, 4), activation="tanh", epochs=3, batch_size=16, scaling="min-max")


@pytest.fixture(autouse=True)
def unchanged_torch():
    with torch_as_it_was():
        yield


def two_blobs(n_rows=200):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    return (rng.normal(size=(n_rows, 3)) + 3 * y[:, None]).astype(np.float32), y


def test_training_gives_the_same_network_each_time_and_another_one_with_another_seed():
    X, y = two_blobs()
    first, again, other = (train(X, y, 2, SMALL, seed)[0][0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_training_learns():
    X, y = two_blobs()
    weights, biases = train(X, y, 2, replace(SMALL, epochs=30), 0)
    network = TrainedNetwork(weights, biases, np.zeros(3), np.ones(3)).wrapped("tanh", ["a", "b", "c"])
    assert np.mean(network.labels(X) == y) > 0.97


def test_a_network_starts_as_in_keras():
    torch.manual_seed(0)
    model = build(100, 2, SMALL)
    dense = [layer for layer in model if isinstance(layer, torch.nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in dense] == [(100, 8), (8, 4), (4, 2)]
    assert all((layer.bias == 0).all() for layer in dense)
    limit = np.sqrt(6 / (100 + 8))
    assert 0.9 * limit < dense[0].weight.abs().max() <= limit
    assert [type(layer) for layer in model][1::2] == [torch.nn.Tanh, torch.nn.Tanh]


def test_all_classes_together_weigh_alike():
    y = np.repeat([0, 1, 2], [10, 30, 60])
    weights = balanced_weights(y, 3)
    np.testing.assert_allclose(weights * np.bincount(y), 100 / 3, rtol=1e-6)


def test_a_rare_class_is_not_lost_in_training():
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=400) < 0.05).astype(np.int64)
    X = (rng.normal(size=(400, 2)) + 1.5 * y[:, None]).astype(np.float32)
    weights, biases = train(X, y, 2, replace(SMALL, epochs=15), 0)
    labels = TrainedNetwork(weights, biases, np.zeros(2), np.ones(2)).wrapped("tanh", ["a", "b"]).labels(X)
    assert np.mean(labels[y == 1]) > 0.6


def test_the_wrapped_network_reads_raw_rows_as_the_trained_one_reads_scaled_ones():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3)) * [1, 100, 0.01] + [0, 1000, 5]
    low, width = scaling_of(X, SMALL)
    weights = [rng.normal(size=shape).astype(np.float32) for shape in ((3, 8), (8, 2))]
    biases = [rng.normal(size=n).astype(np.float32) for n in (8, 2)]
    raw = TrainedNetwork(weights, biases, low, width).wrapped("tanh", list("abc"))
    scaled = TrainedNetwork(weights, biases, np.zeros(3), np.ones(3)).wrapped("tanh", list("abc"))
    (of_raw,), (of_scaled,) = raw.hidden_layers(X), scaled.hidden_layers((X - low) / width)
    np.testing.assert_allclose(of_raw.matrix, of_scaled.matrix, atol=1e-9)


def test_columns_that_never_change_are_scaled_without_a_division_by_zero():
    low, width = scaling_of(np.array([[1.0, 5.0], [3.0, 5.0]]), SMALL)
    assert low.tolist() == [1, 5]
    assert width.tolist() == [2, 1]
    assert scaling_of(np.ones((2, 2)), replace(SMALL, scaling="none"))[0].tolist() == [0, 0]


def test_a_network_file_gives_the_network_back(tmp_path):
    rng = np.random.default_rng(0)
    network = TrainedNetwork(
        [rng.normal(size=(3, 4)), rng.normal(size=(4, 2))], [np.zeros(4), np.ones(2)], np.zeros(3), np.ones(3)
    )
    network.save(tmp_path / "folder" / "network.npz", {"fold": 0})
    loaded = TrainedNetwork.load(tmp_path / "folder" / "network.npz")
    for mine, theirs in zip(network.weights, loaded.weights, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_the_name_of_a_network_tells_rows_settings_and_fold():
    task = load_settings("xor")
    key = network_key("rows", task, 0)
    assert network_key("rows", task, 0) == key
    shorter = task.reduced(Scale(epochs=0.5))
    assert len({key, network_key("other", task, 0), network_key("rows", task, 1)}) == 3
    assert network_key("rows", shorter, 0) != key


def test_published_networks_are_used_where_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUSEWISE_DATA", str(tmp_path))
    settings = replace(SMALL, published="models.npz", use_published=True)
    xor = load_task("xor")
    fold = fold_of(xor, load_settings("xor").folds, 1)
    with pytest.raises(DataNotFoundError, match=r"models\.npz, are not in the data folder"):
        network_of(xor, fold, 1, settings)
    rng = np.random.default_rng(0)
    arrays = {f"fold1_W{i}": rng.normal(size=shape) for i, shape in enumerate([(10, 8), (8, 4), (4, 2)])}
    arrays |= {f"fold1_b{i}": np.zeros(n) for i, n in enumerate([8, 4, 2])}
    np.savez(tmp_path / "models.npz", **arrays)
    np.testing.assert_array_equal(network_of(xor, fold, 1, settings).weights[1], arrays["fold1_W1"])


def test_the_architecture_search_is_over_narrowing_networks_of_the_tasks_depth():
    found = list(candidates(PreparedTask(load_settings("magic"), "rows")))
    assert len(found) == 10 * 3 * 4 * 2
    assert all(list(one.hidden) == sorted(set(one.hidden), reverse=True) for one in found)
    assert load_settings("magic").network in found
    assert load_settings("miniboone").network in list(
        candidates(PreparedTask(load_settings("miniboone"), ""))
    )
