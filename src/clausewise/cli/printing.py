"""What people and scripts see: errors of a line or two, tables of rules, JSON."""

import contextlib
import functools
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ParamSpec

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clausewise.rules import RuleSet, RuleTextError, display
from clausewise.rules.rule import describe_statistics
from clausewise.rules.term import format_category

_Parameters = ParamSpec("_Parameters")

BAD_INPUT = 1
INTERRUPTED = 130
_WIDTH_OF_FILES = 120
"""Columns of tables that do not go to a terminal."""

# Errors that speak about what was given; anything else is a mistake of ours.
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError, IndexError)


class RuleSourceError(ValueError):
    """A RuleTextError with the name of the file before it."""


def reporting_errors(command: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """The command, with errors as a line or two on standard error and the exit code 1."""

    @functools.wraps(command)
    def run(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> None:
        with _errors_reported(bool(options.get("debug"))), _warnings_reported():
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
        # Whoever read our output has seen enough; Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except KeyboardInterrupt:
        _to_stderr("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            raise
        _to_stderr(f"error: {_described(error)}")
        raise typer.Exit(BAD_INPUT) from None


@contextlib.contextmanager
def _warnings_reported() -> Iterator[None]:
    """Our own warnings as lines on standard error; those of libraries are not the user's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", category=UserWarning, module=r"clausewise(\.|$)")
        warnings.showwarning = lambda message, *_: _to_stderr(f"note: {_in_one_line(str(message))}")
        yield


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _described(error: Exception) -> str:
    if isinstance(error, RuleTextError | RuleSourceError):
        return str(error)  # shows the place below the message
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = _in_one_line(str(error)) or type(error).__name__
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({text})"
    if isinstance(error, _EXPECTED):
        return text
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"


def _in_one_line(text: str, most: int = 600) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= most else f"{joined[:most]}…"


# --- Results ---


def print_json(value: Any) -> None:
    """One line of JSON on standard output; NaN, which JSON lacks, is null."""
    print(json.dumps(plain(value), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """The same in types that JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def console(*, stderr: bool = False) -> Console:
    """Where tables go: as wide as the terminal, or as is readable in a file."""
    found = Console(stderr=stderr, highlight=False)
    if not found.is_terminal:
        found = Console(stderr=stderr, highlight=False, width=_WIDTH_OF_FILES, no_color=True)
    return found


def print_rules(rules: RuleSet, to: Console, *, most: int = display.SHOWN_RULES) -> None:
    """The headline and a table of rules; the first of them if there are many."""
    to.print(Text(str(rules).split("\n", 1)[0]))
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("IF", ratio=1, overflow="fold")
    table.add_column("THEN", overflow="fold")
    table.add_column("", style="dim")
    for number in range(min(len(rules), most)):
        rule = rules[number]
        premise = display.describe_premise(rules.columns, number, rules.features)
        # Text, as names may hold what rich takes for markup.
        cells = (str(number), premise, format_category(rule.conclusion), describe_statistics(rule))
        table.add_row(*map(Text, cells))
    if len(rules):
        to.print(table)
    if len(rules) > most:
        to.print(Text(f"… and {len(rules) - most:,} more"))


def print_pairs(pairs: Mapping[str, str], to: Console) -> None:
    """Names and values below each other."""
    table = Table(box=None, pad_edge=False, show_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in pairs.items():
        table.add_row(Text(name), Text(value))
    to.print(table)


def percent(part: float | None) -> str:
    """`91.35 %`, or a dash."""
    return "–" if part is None or math.isnan(part) else f"{100 * part:.2f} %"
