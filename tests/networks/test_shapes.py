import numpy as np
import pytest

from clausewise.networks import Tensor
from clausewise.networks.shapes import axes_of, column_names, n_columns, reduction_of, to_columns

SEQUENCE = Tensor("gru.h", (3, 2), ("time", "unit"))
IMAGE = Tensor("conv", (2, 2, 3), ("channel", "position", "position"))
VALUES = np.random.default_rng(0).normal(size=(4, 3, 2))


def test_flattened_columns_are_named_by_step_and_unit():
    names = column_names(SEQUENCE, "flatten")
    assert names == (
        "gru.h[t=0, 0]",
        "gru.h[t=0, 1]",
        "gru.h[t=1, 0]",
        "gru.h[t=1, 1]",
        "gru.h[t=2, 0]",
        "gru.h[t=2, 1]",
    )
    columns = to_columns(VALUES, SEQUENCE, "flatten")
    np.testing.assert_array_equal(columns[:, names.index("gru.h[t=1, 0]")], VALUES[:, 1, 0])


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [("mean", VALUES.mean(axis=1)), ("max", VALUES.max(axis=1)), ("last", VALUES[:, -1])],
)
def test_steps_are_reduced_and_units_stay_apart(reduction, expected):
    np.testing.assert_allclose(to_columns(VALUES, SEQUENCE, reduction), expected)
    assert column_names(SEQUENCE, reduction) == (f"gru.h[t={reduction}, 0]", f"gru.h[t={reduction}, 1]")
    assert n_columns(SEQUENCE, reduction) == 2


def test_positions_of_an_image_have_a_letter_each():
    assert column_names(IMAGE, "flatten")[-1] == "conv[c=1, x=1, y=2]"
    assert column_names(IMAGE, "max") == ("conv[c=0, x=max, y=max]", "conv[c=1, x=max, y=max]")


def test_vectors_are_never_reduced():
    vector = Tensor("relu", (5,), ("unit",))
    assert reduction_of(vector, "mean") == "flatten"
    assert column_names(vector, "flatten")[3] == "relu[3]"


def test_a_reduction_may_be_given_per_layer():
    assert reduction_of(SEQUENCE, {"gru.h": "last"}) == "last"
    assert reduction_of(IMAGE, {"gru.h": "last"}) == "flatten"


def test_axes_are_steps_of_units_or_channels_of_positions():
    assert axes_of((7, 3)) == ("time", "unit")
    assert axes_of((3, 8, 8)) == ("channel", "position", "position")


def test_a_tensor_names_each_of_its_axes():
    with pytest.raises(ValueError, match="shape"):
        Tensor("odd", (2, 3), ("unit",))
