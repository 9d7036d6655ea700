import numpy as np
import pytest

from clausewise.networks import Tensor
from clausewise.networks.selection import select_layers

TENSORS = [
    Tensor("fc1", (4,), ("unit",), is_hidden=False),
    *(Tensor(f"act{number}", (4,), ("unit",)) for number in range(1, 6)),
]


def chosen(choice):
    return [tensor.name for tensor in select_layers(TENSORS, choice)]


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (None, ["act1", "act2", "act3", "act4", "act5"]),
        ("every 2", ["act1", "act3", "act5"]),
        ("every 4", ["act1", "act5"]),
        ("last 3", ["act3", "act4", "act5"]),
        ("last 9", ["act1", "act2", "act3", "act4", "act5"]),
        ("act2", ["act2"]),
        ("fc1", ["fc1"]),
        (0, ["act1"]),
        (-1, ["act5"]),
        ([3, "fc1", 0], ["fc1", "act1", "act4"]),
        (["act2", "act2"], ["act2"]),
        (np.array([0, 1]), ["act1", "act2"]),
        (np.array(["fc1", "act5"]), ["fc1", "act5"]),
        (np.int64(-1), ["act5"]),
    ],
)
def test_layers_are_chosen_in_the_order_of_computation(choice, names):
    assert chosen(choice) == names


def test_a_layer_may_be_called_like_a_count():
    assert [t.name for t in select_layers([Tensor("last 1", (2,), ("unit",)), *TENSORS], "last 1")] == [
        "last 1"
    ]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("relu", r"There is no layer 'relu'; the layers are 'fc1', 'act1', 'act2'"),
        (5, r"There is no hidden layer 5; the 5 hidden layers, counted from 0, are"),
        ([], "selects no layer"),
        ("every 0", "expected 'every 1' or more"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(choice, message):
    with pytest.raises(ValueError, match=message):
        chosen(choice)


@pytest.mark.parametrize("choice", [1.5, [True], [None]])
def test_what_is_not_a_layer_is_refused(choice):
    with pytest.raises(TypeError, match="is not a layer; pass names, positions"):
        chosen(choice)
