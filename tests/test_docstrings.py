"""Every public class and function has an example in its docstring, and examples do what they show."""

import doctest
import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tools.docs_hooks import public_names

import clausewise

PACKAGE = Path(clausewise.__file__).parent


def _name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Others are not imported here, since some would import their framework.
MODULES = sorted(_name(path) for path in PACKAGE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))


def _needs_example(value):
    is_ours = getattr(value, "__module__", "").startswith("clausewise")
    if inspect.isclass(value):
        is_protocol = getattr(value, "_is_protocol", False)
        return is_ours and not is_protocol and not issubclass(value, BaseException)
    return is_ours and inspect.isfunction(value)


def _examples_of(value):
    """Return the examples in the section of that name, which the site shows as code."""
    section = inspect.getdoc(value).partition("\n\nExamples\n--------\n")[2]
    return [example for example in doctest.DocTestParser().get_examples(section) if example.indent == 0]


DOCUMENTED = {
    f"{module}.{name}": value
    for module, names in public_names().items()
    for name in names
    if _needs_example(value := getattr(import_module(module), name))
}


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Run in an empty folder, with figures that open no window."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield tmp_path
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings_give_what_they_show(name, empty_folder):
    # Without the names of the module: an example has to run where a reader pastes it.
    assert doctest.testmod(import_module(name), globs={}).failed == 0
    assert not list(empty_folder.iterdir())


def test_every_public_class_and_function_has_an_example():
    assert [name for name, value in DOCUMENTED.items() if not _examples_of(value)] == []
