"""The command line: `clausewise extract`, `evaluate`, `predict`, … (`clausewise --help` lists them)."""

import sys


def main() -> None:
    """Run the command that the arguments name, and exit with 0 (ok), 1 (bad data or model) or 2 (usage)."""
    try:
        from clausewise.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "pyarrow"):
            raise
        sys.exit(f"error: the command line needs {error.name}: pip install 'clausewise[cli]'")
    app(prog_name="clausewise")
