"""The command line: `clausewise extract`, `evaluate`, `predict`, … (listed by `clausewise --help`)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def main() -> None:
    """Run a command and exit with 0 (success), 1 (bad data or model), 2 (wrong usage) or 130 (interrupt)."""
    with missing_package_named():
        from clausewise.cli.app import app
    app(prog_name="clausewise")


@contextmanager
def missing_package_named() -> Iterator[None]:
    """Exit with the name of a package that the command line needs, if an import does not find it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "pyarrow"):
            raise
        sys.exit(f"error: the command line needs {error.name}: pip install 'clausewise[cli]'")
