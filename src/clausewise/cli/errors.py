"""Errors and warnings of commands: one or two lines on standard error, and an exit code."""

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import ParamSpec

import typer

from clausewise.cli.output_files import require_inputs_kept
from clausewise.rules import RuleTextError

_Parameters = ParamSpec("_Parameters")

BAD_INPUT = 1
INTERRUPTED = 130

# Errors about the given files and options; any other is a bug.
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError, IndexError)


class RuleSourceError(ValueError):
    """A RuleTextError whose message begins with the name of the file."""


def reporting_errors(command: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Return the command with errors printed as a line or two on standard error, and exit code 1.

    An output that would overwrite an input is refused before anything is read.
    """

    @functools.wraps(command)
    def run(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> None:
        with _errors_reported(bool(options.get("debug"))), _warnings_reported():
            require_inputs_kept(command.__name__, options)
            command(*arguments, **options)

    return run


@contextlib.contextmanager
def _errors_reported(debug: bool) -> Iterator[None]:
    try:
        yield
        sys.stdout.flush()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:
        # The reader of our output is gone; without this, Python would report it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except KeyboardInterrupt:
        _to_stderr("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            raise
        _to_stderr(f"error: {_description(error)}")
        raise typer.Exit(BAD_INPUT) from None


@contextlib.contextmanager
def _warnings_reported() -> Iterator[None]:
    """Print the package's own warnings as lines on standard error, and hide those of other libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", category=UserWarning, module=r"clausewise(\.|$)")
        warnings.showwarning = lambda message, *_: _to_stderr(f"note: {_in_one_line(str(message))}")
        yield


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _description(error: Exception) -> str:
    if isinstance(error, RuleTextError | RuleSourceError):
        return str(error)  # its second line marks the place
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = _in_one_line(str(error)) or type(error).__name__
    if isinstance(error, MemoryError):
        return f"not enough memory ({text})"
    if isinstance(error, _EXPECTED):
        return text
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"


def _in_one_line(text: str, most: int = 600) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= most else f"{joined[:most]}…"
