"""The typer application: all commands under one name."""

from typing import Annotated

import typer

import clausewise
from clausewise.cli.commands.compare import compare
from clausewise.cli.commands.doctor import doctor
from clausewise.cli.commands.evaluate import evaluate
from clausewise.cli.commands.explain import explain
from clausewise.cli.commands.export import export
from clausewise.cli.commands.extract import extract
from clausewise.cli.commands.predict import predict
from clausewise.cli.commands.shorten import compact, simplify
from clausewise.cli.commands.show import explore, report

app = typer.Typer(
    help="Short, faithful IF-THEN rules from trained neural networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


# In the order of `clausewise --help`.
for command in (
    extract,
    evaluate,
    predict,
    explain,
    compact,
    simplify,
    compare,
    export,
    report,
    explore,
    doctor,
):
    app.command()(command)
