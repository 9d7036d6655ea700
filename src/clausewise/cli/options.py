"""Arguments and options that several commands share, with their help texts."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from clausewise.base.parameters import MIN_CASES, Constraint, ParameterError, check_parameters, one_of, whole
from clausewise.cli.output_files import is_special, is_stdout
from clausewise.cli.rule_files import SUFFIXES as RULE_SUFFIXES
from clausewise.cli.table_files import FORMATS as DATA_FORMATS
from clausewise.extractors.base import EXTRACTED_VOTINGS
from clausewise.rules.voting import VOTINGS


def checked(constraint: Constraint) -> Callable[[Any], Any]:
    """Return a callback for an option that, if given, must satisfy a constraint."""

    def check(value: Any) -> Any:
        if value is not None and not constraint.allows(value):
            raise typer.BadParameter(f"{value!r} is not allowed; expected {constraint.expected}.")
        return value

    return check


def parse_min_cases(text: str) -> int | float | str:
    """Return a number of rows, a fraction of them or "auto"."""
    value: int | float | str = text
    for kind in (int, float):
        try:
            value = kind(text)
            break
        except ValueError:
            continue
    try:
        check_parameters({"--min-cases": MIN_CASES | one_of("auto")}, {"--min-cases": value})
    except ParameterError as error:
        raise typer.BadParameter(str(error)) from None
    return value


def parse_synthetic(text: str | float) -> float | str:
    """Return the number of rows to generate per row, or "auto"."""
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(f"{text!r} is not a number of rows; expected auto, or a number from 0 on.")
    return value


def parse_max_rules(text: str) -> int | str | None:
    """Return a number of rules, "auto", or None for "all"."""
    if text in ("auto", "all"):
        return None if text == "all" else text
    try:
        check_parameters({"--max-rules": whole(1)}, {"--max-rules": int(text)})
    except (ParameterError, ValueError):
        raise typer.BadParameter(f"{text!r} is not a whole number of 1 or more, auto or all") from None
    return int(text)


def comma_separated(choices: Iterable[str]) -> str:
    """Return the choices as text for help."""
    return ", ".join(choices)


def rules_output(path: str | None) -> str | None:
    """Return the name of a rule file to write, whose ending must be that of one."""
    if path is None or is_stdout(path) or is_special(path) or Path(path).suffix.lower() in RULE_SUFFIXES:
        return path
    raise typer.BadParameter(f"the name of a rule file ends in {', '.join(RULE_SUFFIXES)}; {path} does not.")


# --- Files ---

RulesFile = Annotated[
    str,
    typer.Argument(
        metavar="RULES", help="Rule file (.json), or text in the rule language (.txt); - is standard input."
    ),
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help=".onnx, .keras or .skops file, or module:object.")
]
DataFile = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, Parquet, Arrow or NPZ file of rows; - is standard input.")
]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Output file; standard output by default."),
]
RulesOutput = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        callback=rules_output,
        help=f"Rule file ({', '.join(RULE_SUFFIXES)}); standard output by default.",
    ),
]
DataFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        callback=checked(one_of(*DATA_FORMATS)),
        help=f"Format of DATA: {comma_separated(DATA_FORMATS)}; by default, the file name decides.",
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="Column of DATA with the true classes.")
]

# --- The network ---

Model = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="MODEL", help="The network: .onnx, .keras or .skops file, or module:object."
    ),
]
Classes = Annotated[
    str | None,
    typer.Option("--classes", metavar="A,B,…", help="The network's classes, in the order of its outputs."),
]
Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", metavar="TYPE", help="A type in a .skops file that may be loaded (repeatable)."),
]

# --- Running and printing ---

Voting = Annotated[
    str | None,
    typer.Option(
        callback=checked(one_of(*VOTINGS)),
        help=f"How rules vote: {comma_separated(VOTINGS)}.",
    ),
]
ExtractedVoting = Annotated[
    str | None,
    typer.Option(
        callback=checked(one_of(*EXTRACTED_VOTINGS)),
        help=f"How all rules vote, with --max-rules all: {comma_separated(EXTRACTED_VOTINGS)}.",
    ),
]
Synthetic = Annotated[
    Any,
    typer.Option(
        parser=parse_synthetic,
        metavar="N",
        help="Rows to generate near each row, labelled by the model, to search on; auto (the default) or 0.",
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Number of threads; all cores by default.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the random number generator.")
]
PageLabels = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="FILE", help="JSON with names to show for columns, categories and classes."
    ),
]
PageColors = Annotated[
    list[str] | None,
    typer.Option("--color", metavar="CLASS=#RRGGBB", help="The colour of a class (repeatable)."),
]
PageFixed = Annotated[
    list[str] | None,
    typer.Option(
        "--fixed", metavar="COLUMN", help="A column that smallest changes do not touch (repeatable)."
    ),
]
PageTitle = Annotated[str | None, typer.Option("--title", help="Title of the page.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Do not print progress on standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
