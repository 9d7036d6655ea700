"""The examples in docstrings do what they show."""

import doctest
import importlib
import pkgutil

import pytest

import clausewise

# Without the adapters, which import their frameworks.
MODULES = [
    module.name
    for module in pkgutil.walk_packages(clausewise.__path__, "clausewise.")
    if not module.name.endswith(("._core", ".torch", ".keras", ".onnx"))
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings_give_what_they_show(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
