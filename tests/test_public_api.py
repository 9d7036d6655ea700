"""The public surface is the list in docs/public-api.md, no more and no less."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import clausewise

PAGE = Path(__file__).parents[1] / "docs" / "public-api.md"
LISTED = {
    module: set(re.findall(r"`([^`]+)`", names))
    for module, names in re.findall(r"^\| `([\w.]+)` \| ([^|]*) \|", PAGE.read_text(encoding="utf-8"), re.M)
}
# Modules that only hold names for other folders of the package.
INTERNAL = {"clausewise.base", "clausewise.cli", "clausewise.cli.commands"}


@pytest.mark.parametrize("module", LISTED)
def test_a_public_module_has_the_names_that_are_listed(module):
    assert set(importlib.import_module(module).__all__) == LISTED[module]


@pytest.mark.parametrize("module", LISTED)
def test_every_public_name_is_there_and_documented(module):
    loaded = importlib.import_module(module)
    for name in LISTED[module]:
        value = getattr(loaded, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{module}.{name} has no docstring"


def test_every_package_is_public_or_internal_on_purpose():
    packages = {
        f"clausewise.{found.name}" if "." not in found.name else found.name
        for found in pkgutil.walk_packages(clausewise.__path__, "clausewise.")
        if found.ispkg
    }
    assert packages <= set(LISTED) | INTERNAL


def test_star_import_brings_only_the_public_names():
    names: dict[str, object] = {}
    exec("from clausewise import *", names)
    assert set(names) - {"__builtins__"} == LISTED["clausewise"]
