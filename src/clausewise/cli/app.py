"""The typer application: all commands under one name.

The module of a command is imported when the command is called, so that `clausewise --help` loads none.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand
from typer.main import get_command

import clausewise
from clausewise.cli import missing_package_named
from clausewise.cli.examples import help_ending

app = typer.Typer(
    help="Short, faithful IF-THEN rules from trained models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Command(NamedTuple):
    """Where a command is defined, and what `clausewise --help` says about it."""

    module: str
    help: str


# In the order of `clausewise --help`.
COMMANDS: Final[Mapping[str, Command]] = {
    "demo": Command(
        "demo", "Extract rules from a small network on generated data, and write them and a report."
    ),
    "extract": Command(
        "extract",
        "Extract rules from a trained model, and measure how well they agree with it on held-out rows.",
    ),
    "evaluate": Command(
        "evaluate", "Measure rules on rows against the true classes or numbers, a network, or both."
    ),
    "predict": Command(
        "predict", "Predict the class or number of each row, in batches, so that files may exceed memory."
    ),
    "explain": Command(
        "explain",
        "Explain decisions: the rules that fired, their votes, and near misses."
        " A number is explained as a sum.",
    ),
    "compact": Command(
        "shorten", "Search for the small rule set that agrees most with a network, or with labels or numbers."
    ),
    "simplify": Command(
        "shorten", "Remove rules and terms without changing any decision, or within a tolerance on DATA."
    ),
    "compare": Command(
        "compare", "List the rules that were added, removed or changed, and the rows whose decision flips."
    ),
    "validate": Command(
        "validate",
        "Write a page about rules on fresh rows: guarantee, abstention, failures by slice, edits, versions.",
    ),
    "export": Command(
        "export",
        "Export the rules as SQL, Python, PMML, ONNX and other formats, with the same results as `predict`.",
    ),
    "report": Command("show", "Write a single HTML file that shows the rules and works offline."),
    "explore": Command(
        "show", "Serve a page with the rules, all rows and the network itself; Ctrl-C stops it."
    ),
    "doctor": Command(
        "doctor",
        "Print versions, optional dependencies and threads, and test the installation on small data.",
    ),
}


def load_command(name: str) -> Any:
    """Import a command and return it as an object of typer's."""
    with missing_package_named():
        module = import_module(f"clausewise.cli.commands.{COMMANDS[name].module}")
    alone = typer.Typer(add_completion=False)
    alone.command(name, epilog=help_ending(name))(getattr(module, name))
    return get_command(alone)


class _Deferred(TyperCommand):
    """A command that is listed with its help, and imported when its arguments are read."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the imported command, which runs in place of this one."""
        assert self.name is not None
        return load_command(self.name).make_context(info_name, args, parent=parent, **extra)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"clausewise {clausewise.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _never_called() -> None:
    raise AssertionError("a deferred command runs as the command that it has imported")


for _name, _command in COMMANDS.items():
    app.command(_name, cls=_Deferred, help=_command.help)(_never_called)
