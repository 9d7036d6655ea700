"""The command line: `clausewise extract`, `evaluate`, `predict`, … (listed by `clausewise --help`)."""

import sys


def main() -> None:
    """Run a command and exit with 0 (success), 1 (bad data or model), 2 (wrong usage) or 130 (interrupt)."""
    try:
        from clausewise.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "pyarrow"):
            raise
        sys.exit(f"error: the command line needs {error.name}: pip install 'clausewise[cli]'")
    app(prog_name="clausewise")
