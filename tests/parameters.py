"""Checks of declared parameter constraints, shared by the tests of estimators, inducers and networks."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clausewise.base.parameters import Constraint, ParameterError

HOSTILE = (object(), None, True, -1, 0, 2.5, float("nan"), "no such choice", [], {})


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """Return the named parameters of a function or of a class's `__init__`, without `**options`."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]


def check_constraints(
    constraints: Mapping[str, Constraint], function: Callable[..., Any], unconstrained: tuple[str, ...] = ()
) -> None:
    """Assert that every parameter has a constraint, which allows its default and refuses some value."""
    names = [name for name in parameter_names(function) if name not in unconstrained]
    assert sorted(constraints) == sorted(names)
    for name in names:
        default = inspect.signature(function).parameters[name].default
        assert default is inspect.Parameter.empty or constraints[name].allows(default), name
        assert not all(constraints[name].allows(value) for value in HOSTILE), name


def check_estimator_constraints(estimator_class: type, unconstrained: tuple[str, ...] = ()) -> None:
    """Assert the constraints of an estimator, and that `fit` checks them before it looks at the data."""
    check_constraints(estimator_class._parameter_constraints, estimator_class, unconstrained)
    for name in estimator_class._parameter_constraints:
        estimator = estimator_class(**{name: HOSTILE[0]})
        with pytest.raises(ParameterError, match=rf"^{name} is <object object at .*>; expected .*\.$"):
            estimator.fit(None, None)
