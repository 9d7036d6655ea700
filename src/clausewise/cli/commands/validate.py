"""`clausewise validate`: the page that a model-risk team files about rules."""

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from clausewise.analysis.guarantee import LearntRowsError
from clausewise.base.parameters import one_of
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import RuleRows, rows_for_rules
from clausewise.cli.models import load_network
from clausewise.cli.output_files import require_writable
from clausewise.cli.printing import print_json
from clausewise.cli.rule_files import read_rules, write_rules
from clausewise.cli.table_files import Source
from clausewise.networks import Network
from clausewise.rules import RegressionRules, RuleSet


@reporting_errors
def validate(
    rules: options.RulesFile,
    model: options.ModelFile,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="File of fresh rows: CSV, Parquet, Arrow or NPZ.")
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")
    ] = "validation.html",
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.9999, help="Probability with which all intervals hold.")
    ] = 0.95,
    agreement: Annotated[
        float | None,
        typer.Option(min=0.01, max=0.9999, help="Also say where the rules would abstain for this agreement."),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0.0, help="For numbers: largest difference that counts as agreement.")
    ] = None,
    overlap: Annotated[
        str,
        typer.Option(
            callback=options.checked(one_of("refuse", "drop", "keep")),
            help="What to do with rows that the rules were learnt from: refuse, drop or keep.",
        ),
    ] = "refuse",
    groups: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with what rows belong to, such as a customer."),
    ] = None,
    dates: Annotated[
        str | None, typer.Option("--dates", metavar="COLUMN", help="Column with the date of each row.")
    ] = None,
    challenge: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            metavar="SECONDS",
            help="Also try to break the rules near these rows, for at most this long.",
        ),
    ] = None,
    certify: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            metavar="SECONDS",
            help="Also prove where the network always decides as the rules say, for at most this long.",
        ),
    ] = None,
    attach: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            callback=options.rules_output,
            help="Also write the rules with their guarantee to this file.",
        ),
    ] = None,
    title: options.PageTitle = None,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """Write a page about rules on fresh rows: guarantee, abstention, failures by slice, edits, versions.

    With --challenge and --certify, also what was found when the rules were attacked, and what was proven.
    """
    for path in (output, attach):
        require_writable(path)
    ruleset = read_rules(rules)
    is_for_numbers = isinstance(ruleset, RegressionRules)
    if is_for_numbers and tolerance is None:
        raise typer.BadParameter(
            "rules for numbers need --tolerance, the largest difference that is agreement"
        )
    if is_for_numbers and agreement is not None:
        raise typer.BadParameter("--agreement is for rules for classes; these rules add numbers")
    if is_for_numbers and not (challenge is None and certify is None):
        raise typer.BadParameter(
            "--challenge and --certify are for rules for classes; these rules add numbers"
        )
    if not is_for_numbers and tolerance is not None:
        raise typer.BadParameter("--tolerance is for rules for numbers; these rules predict classes")
    network = load_network(model, classes, trust, for_numbers=is_for_numbers, data=data)
    source = Source.of(data, format)
    rows = rows_for_rules(source, ruleset)
    own: dict[str, Any] = {"tolerance": tolerance} if is_for_numbers else {"agreement": agreement}
    try:
        found = ruleset.validate(
            rows.X,
            rows.network_answers(network, ruleset),
            **own,
            confidence=confidence,
            overlap=overlap,  # type: ignore[arg-type]
            groups=None if groups is None else _column(rows, groups),
            dates=_dates(rows, dates),
            title=title,
            model_name=str(network),
            sources={
                f"{name} file": _file_and_hash(path)
                for name, path in (("rule", rules), ("model", model), ("row", data))
            },
            results=_tried(ruleset, network, rows.X, challenge, certify, seed),
            random_state=seed,
            n_jobs=jobs,
        )
    except LearntRowsError as error:
        raise ValueError(error.described(source.shown, "--overlap drop", "--overlap keep")) from error
    found.save(output)
    if attach is not None:
        write_rules(ruleset.with_guarantee(found.guarantee), attach)
    if as_json:
        frame = found.guarantee.to_frame("pyarrow")
        print_json({"summary": found.guarantee.summary, "promises": frame.to_pylist(), "output": output})
    else:
        print(found)
        print(f"page in {output}" + ("" if attach is None else f", rules with their guarantee in {attach}"))


def _tried(
    rules: RuleSet | RegressionRules,
    network: Network,
    X: Any,
    challenge: float | None,
    certify: float | None,
    seed: int,
) -> dict[str, Any]:
    """Return the results of what was asked for, by the heading that they get on the page."""
    results: dict[str, Any] = {}
    if not isinstance(rules, RuleSet):
        return results
    if challenge is not None:
        results["Challenge"] = rules.challenge(network, X, max_seconds=challenge, random_state=seed)
    if certify is not None:
        results["Certificate"] = rules.certify(network, X, seconds=certify, random_state=seed)
    return results


def _column(rows: RuleRows, name: str) -> list[Any]:
    known = rows.all_columns.column_names
    if name not in known:
        raise ValueError(
            f"There is no column {name!r} in {rows.source.shown}; it has {', '.join(known[:20])}."
        )
    values: list[Any] = rows.all_columns.column(name).to_pylist()
    return values


def _dates(rows: RuleRows, name: str | None) -> list[Any] | None:
    """Return the dates of the rows: of the named column, or of the only column of that type."""
    if name is not None:
        return _column(rows, name)
    import pyarrow as pa

    found = [field.name for field in rows.all_columns.schema if pa.types.is_temporal(field.type)]
    if not found:  # CSV files are read as text
        found = [name for name in rows.all_columns.column_names if _has_dates(rows.all_columns.column(name))]
    return _column(rows, found[0]) if len(found) == 1 else None


def _has_dates(column: Any) -> bool:
    """Return whether all known values are dates as text, such as 2026-03-31; numbers are not."""
    known = [value for value in column.to_pylist() if value]
    return bool(known) and all(isinstance(value, str) and _is_date(value) for value in known)


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return "-" in text  # 20260331 may be a number


def _file_and_hash(path: str) -> str:
    """Return the name of a file and the SHA-256 of its bytes; the name alone of anything else."""
    if not Path(path).is_file():
        return path
    with Path(path).open("rb") as file:
        return f"{Path(path).name}, SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
