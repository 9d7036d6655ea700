"""The command line: `clausewise extract`, `evaluate`, `predict`, … (listed by `clausewise --help`)."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run a command and exit with 0 (success), 1 (bad data or model), 2 (wrong usage) or 130 (interrupt)."""
    if _is_demo(sys.argv[1:]) and any(find_spec(name) is None for name in _PACKAGES):
        _run_demo_alone(sys.argv[2:])
        return
    with missing_package_named():
        from clausewise.cli.app import app
    app(prog_name="clausewise")


def _is_demo(arguments: Sequence[str]) -> bool:
    return arguments[:1] == ["demo"] and len(arguments) <= 2 and not arguments[-1].startswith("-")


def _run_demo_alone(folder: Sequence[str]) -> None:
    """Run the demo, which needs no other package: the first command that people try."""
    from clausewise.cli.demo import DEFAULT_FOLDER, run_demo

    try:
        run_demo(Path(*folder) if folder else DEFAULT_FOLDER)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print("\nTo go on: pip install 'clausewise[cli]', for the other commands (clausewise --help).")


@contextmanager
def missing_package_named() -> Iterator[None]:
    """Exit with the name of a package that the command line needs, if an import does not find it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        sys.exit(f"error: the command line needs {error.name}: pip install 'clausewise[cli]'")
