import numpy as np
import pytest

import clausewise
from clausewise.base.parameters import ParameterError
from clausewise.networks import ArrayNetwork, CallableNetwork, Network
from clausewise.networks.arrays import ARRAY_OPTIONS
from clausewise.networks.callables import CALLABLE_OPTIONS
from clausewise.networks.network import NETWORK_OPTIONS
from tests.parameters import HOSTILE, check_constraints

ARRAYS = {"weights": [np.eye(2), np.eye(2)], "biases": [np.zeros(2), np.zeros(2)]}


@pytest.mark.parametrize(
    ("constraints", "function", "unconstrained"),
    [
        (NETWORK_OPTIONS, Network, ("backend",)),
        (NETWORK_OPTIONS, clausewise.wrap, ("model", "device", "output_key")),
        (ARRAY_OPTIONS, ArrayNetwork, ()),
        (CALLABLE_OPTIONS, CallableNetwork, ()),
    ],
)
def test_every_parameter_has_a_constraint(constraints, function, unconstrained):
    check_constraints(constraints, function, unconstrained)


@pytest.mark.parametrize("name", [*ARRAY_OPTIONS, *sorted(NETWORK_OPTIONS.keys() - {"output"})])
def test_networks_of_arrays_check_their_parameters(name):
    with pytest.raises(ParameterError, match=rf"^{name} is <object object at .*>; expected .*\.$"):
        ArrayNetwork(**(ARRAYS | {name: HOSTILE[0]}))


@pytest.mark.parametrize(
    "name", [*CALLABLE_OPTIONS, *sorted(NETWORK_OPTIONS.keys() - CALLABLE_OPTIONS.keys())]
)
def test_networks_of_functions_check_their_parameters(name):
    given = {"predict": lambda rows: rows, name: HOSTILE[0]}
    with pytest.raises(ParameterError, match=rf"^{name} is <object object at .*>; expected .*\.$"):
        CallableNetwork(**given)
