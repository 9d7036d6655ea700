"""`clausewise export`: rules in other languages."""

from typing import Annotated

import typer

from clausewise.base.parameters import one_of
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.export_formats import BINARY_FORMATS, FORMATS, export_rules
from clausewise.cli.output_files import require_no_terminal, write_bytes
from clausewise.cli.rule_files import read_rules
from clausewise.export.sql import DIALECTS


@reporting_errors
def export(
    rules: options.RulesFile,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            callback=options.checked(one_of(*FORMATS)),
            help=f"One of {options.comma_separated(FORMATS)}.",
        ),
    ],
    output: options.Output = None,
    table: Annotated[
        str, typer.Option(help="Table that the SQL query reads: table or schema.table.")
    ] = "rows",
    dialect: Annotated[
        str,
        typer.Option(
            callback=options.checked(one_of(*DIALECTS)),
            help=f"SQL dialect: {options.comma_separated(DIALECTS)}.",
        ),
    ] = "sqlite",
    decision: Annotated[
        str | None,
        typer.Option(help="Name of the last column in SQL; by default decision, or prediction for numbers."),
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Export the rules as SQL, Python, PMML, ONNX and other formats, with the same results as `predict`."""
    if to in BINARY_FORMATS:
        require_no_terminal(output, to)
    ruleset = read_rules(rules)
    write_bytes(export_rules(ruleset, to, table=table, dialect=dialect, result=decision), output)
