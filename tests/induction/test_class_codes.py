"""Class codes and case weights as inducers take them."""

import numpy as np
import pytest

from clausewise.induction.estimator import checked_case_weights, checked_codes


def test_every_class_may_occur_and_need_not():
    assert checked_codes(np.array([0, 2, 1], dtype=np.uint8), 3, 3).dtype == np.int32
    assert checked_codes(np.array([1, 1]), 2, 3).tolist() == [1, 1]
    assert checked_codes(np.array([], dtype=int), 0, 3).tolist() == []


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.array([0, 3, 1]), "codes range from 0 to 3; expected 0 to 2"),
        (np.array([-1, 2, 1]), "codes range from -1 to 2"),
        (np.array([0.0, 1.0, 1.0]), "dtype float64"),
        (np.array([True, False, True]), "dtype bool"),
        (np.array([0, 1]), r"shape \(2,\)"),
        (np.array([[0], [1], [1]]), r"shape \(3, 1\)"),
    ],
)
def test_codes_that_are_not_positions_of_classes_are_refused(codes, message):
    with pytest.raises(ValueError, match=message):
        checked_codes(codes, 3, 3)


def test_case_weights_are_positive():
    assert checked_case_weights(None, 2) is None
    assert (checked_case_weights([1e-29, 1.0], 2) > 0).all()
    with pytest.raises(ValueError, match="weights contains 0"):
        checked_case_weights([0.0, 1.0], 2)
