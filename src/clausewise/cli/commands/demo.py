"""`clausewise demo`: the demo, without the repository."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from clausewise.cli import options
from clausewise.cli.demo import DEFAULT_FOLDER, run_demo
from clausewise.cli.errors import reporting_errors


@reporting_errors
def demo(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Folder for rules.json and report.html; created if necessary."),
    ] = DEFAULT_FOLDER,
    debug: options.Debug = False,
) -> None:
    """Extract rules from a small network on generated data, and write them and a report."""
    files = run_demo(folder)
    print("\nTo go on:")
    print(f"  clausewise explain {shlex.quote(str(files.rules))}")
    print(f"  clausewise export {shlex.quote(str(files.rules))} --to sql")
