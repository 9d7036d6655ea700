"""`import clausewise` and `clausewise --help` load only what they use."""

import inspect
import subprocess
import sys

import pytest

import clausewise
from clausewise.cli.app import COMMANDS, load_command

HEAVY = {
    "matplotlib",
    "narwhals",
    "numpy",
    "onnx",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "scipy.stats",
    "sklearn",
    "torch",
    "typer",
}


def heavy_modules_after(code):
    """Return the modules of the list that a fresh process has loaded after some code."""
    script = (
        f"{code}\nimport sys; print(*sorted({HEAVY} & set(sys.modules)), sep=',', end='', file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(filter(None, result.stderr.split(",")))


def test_importing_the_package_loads_no_other_library():
    assert heavy_modules_after("import clausewise; dir(clausewise); clausewise.__version__") == set()


def test_help_of_the_command_line_loads_only_what_draws_it():
    call = "from clausewise.cli import main\ntry: main()\nexcept SystemExit: pass"
    assert heavy_modules_after(f"import sys; sys.argv = ['clausewise', '--help']\n{call}") == {
        "typer",
        "rich",
    }


def test_every_public_name_is_listed_before_it_is_loaded():
    code = "import clausewise; assert set(clausewise.__all__) <= set(dir(clausewise))"
    assert heavy_modules_after(code) == set()


@pytest.mark.parametrize(
    "use", ["clausewise.RuleSet", "clausewise.metrics.fidelity", "clausewise.io.load", "clausewise.plots"]
)
def test_names_and_folders_are_loaded_when_they_are_used(use):
    code = f"import clausewise; {use}; assert clausewise.io.RuleFileError is clausewise.RuleFileError"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_that_several_threads_use_first_are_loaded_once():
    code = """
import threading, clausewise
found = []
threads = [threading.Thread(target=lambda: found.append(clausewise.ECLAIRE)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert found == [clausewise.ECLAIRE] * 8
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'RuleSets'"):
        clausewise.RuleSets  # noqa: B018


@pytest.mark.parametrize("name", COMMANDS)
def test_the_listed_help_of_a_command_is_its_own(name):
    first_paragraph = load_command(name).help.split("\n\n")[0]
    assert COMMANDS[name].help == " ".join(first_paragraph.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_the_function_of_its_name(name):
    assert inspect.unwrap(load_command(name).callback).__name__ == name
