"""The examples in docstrings do what they show."""

import doctest
import importlib
import pkgutil

import pytest

import clausewise

# Without the adapters, which import their frameworks, and the compiled core.
ADAPTERS = {f"clausewise.networks.{framework}" for framework in ("torch", "keras", "onnx")}
MODULES = [
    module.name
    for module in pkgutil.walk_packages(clausewise.__path__, "clausewise.")
    if module.name not in ADAPTERS | {"clausewise._core"}
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings_give_what_they_show(name):
    # Without the names of the module: an example has to run where a reader pastes it.
    assert doctest.testmod(importlib.import_module(name), globs={}).failed == 0
