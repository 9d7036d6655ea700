import numpy as np
import pandas as pd
import pytest

from clausewise.base.parameters import (
    ARRAY_LIKE,
    FUNCTION,
    NOTHING,
    ParameterError,
    check_parameters,
    number,
    one_of,
    whole,
)


@pytest.mark.parametrize(
    ("constraint", "allowed", "refused", "expected"),
    [
        (number(), [0, -1.5, np.float32(2)], [np.inf, np.nan, True, "1"], "a finite number"),
        (number(above=0), [0.1], [0, -1], "a positive number"),
        (number(above=0, most=1), [0.1, 1], [0, 1.1], "a positive number, at most 1"),
        (number(least=0, most=1), [0, 1], [-0.1, 1.1], "a number from 0 to 1"),
        (number(least=0, below=1), [0, 0.99], [-0.1, 1], "a number of 0 or more, below 1"),
        (number(most=3), [3, -9], [3.5], "a finite number, at most 3"),
        (whole(1) | one_of("auto"), [1, np.int64(7), "auto"], [0, 1.5, True, "all"], None),
        (ARRAY_LIKE | NOTHING, [[1], (), np.ones(2), pd.Series([1]), None], ["ab", b"ab", 3, list], None),
        (FUNCTION, [len, lambda row: row], ["len", None], "a function"),
    ],
)
def test_constraints_allow_and_refuse(constraint, allowed, refused, expected):
    assert all(constraint.allows(value) for value in allowed)
    assert not any(constraint.allows(value) for value in refused)
    assert expected is None or constraint.expected == expected


def test_an_error_names_the_parameter_the_value_and_what_was_expected():
    with pytest.raises(ParameterError, match=r"^sample is 7; expected a number of 0 or more, below 1\.$"):
        check_parameters({"sample": number(least=0, below=1)}, {"sample": 7})


def test_the_value_in_an_error_is_one_short_line():
    with pytest.raises(ParameterError, match=r"^rows is array\(\[\[0\., 0\..*…; expected a function\.$"):
        check_parameters({"rows": FUNCTION}, {"rows": np.zeros((9, 3))})
