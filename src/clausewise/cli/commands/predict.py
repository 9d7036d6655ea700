"""`clausewise predict`: the decisions of rules on rows."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Annotated

import pyarrow as pa
import typer

from clausewise.base.counts import count_of
from clausewise.base.progress import Progress
from clausewise.cli import options
from clausewise.cli.column_types import columns_for_rules
from clausewise.cli.errors import reporting_errors
from clausewise.cli.output_files import is_stdout
from clausewise.cli.prediction_files import format_of, table_writer
from clausewise.cli.rule_files import AnyRules, read_rules
from clausewise.cli.table_files import Source, n_rows_of, read_batches
from clausewise.data.labels import Label
from clausewise.rules import RegressionRules
from clausewise.rules.term import format_category


@reporting_errors
def predict(
    rules: options.RulesFile,
    data: options.DataFile,
    output: options.Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the columns of DATA.")] = False,
    name: Annotated[str, typer.Option(help="Name of the column of predictions.")] = "prediction",
    format: options.DataFormat = None,
    spreadsheet: Annotated[
        bool,
        typer.Option(
            "--spreadsheet",
            help="In CSV, put ' before text that begins with =, +, -, @, tab or CR and is not a number, so "
            "that a spreadsheet does not run it as a formula.",
        ),
    ] = False,
    jobs: options.Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object per row.")] = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Predict the class or number of each row, in batches, so that files may exceed memory."""
    if output is not None and not is_stdout(output):
        format_of(output, as_json)  # reports an unknown ending before anything is read
    ruleset, source = read_rules(rules), Source.of(data, format)
    names = [name]
    if proba:
        if isinstance(ruleset, RegressionRules):
            raise typer.BadParameter("--proba is for rules for classes; these rules add numbers")
        names += [_probability_name(label) for label in ruleset.labels]
    if len(set(names)) < len(names):
        raise typer.BadParameter(
            f"{name!r} is also the name of a column of probabilities; pass another --name"
        )
    write, needed = None, ruleset.tested_features()
    # Predictions on a terminal would mix with it, and scripts need none.
    shows_progress = output is not None and not quiet and sys.stderr.isatty()
    with ExitStack() as stack, Progress(int(shows_progress)) as progress:
        for batch in _counted(source, progress):
            rows = columns_for_rules(batch, ruleset.features, source, needed)
            predicted = _predictions(ruleset, rows, names, jobs)
            if keep:
                if twice := set(names) & set(batch.column_names):
                    raise ValueError(
                        f"{source.shown} already has a column {min(twice)!r}; pass another --name."
                    )
                columns = [*batch.columns, *predicted.columns]
                predicted = pa.table(columns, names=[*batch.column_names, *names])
            if write is None:  # the first batch shows the types of the columns
                schema = predicted.schema
                write = stack.enter_context(
                    table_writer(output, schema, as_json, for_spreadsheets=spreadsheet)
                )
            write(predicted.cast(schema))


def _counted(source: Source, progress: Progress) -> Iterator[pa.Table]:
    """Iterate over batches of rows; show how many are done."""
    progress.started("Predictions", 1)
    progress.part_started(source.shown, n_rows_of(source) or 0, "rows")
    n_done = 0
    for batch in read_batches(source):
        yield batch
        progress.steps_done(n_done, batch.num_rows)
        n_done += batch.num_rows
    progress.part_done()
    progress.finished(f"Predictions: {count_of(n_done, 'row')}")


def _probability_name(label: Label) -> str:
    return f"probability {format_category(label)}"


def _predictions(rules: AnyRules, table: pa.Table, names: Sequence[str], jobs: int | None) -> pa.Table:
    if isinstance(rules, RegressionRules):
        return pa.table([pa.array(rules.predict(table, n_jobs=jobs))], names=list(names))
    labels = rules.predict(table, n_jobs=jobs)
    is_text = isinstance(rules.labels[0], str)
    columns = [pa.array(labels.tolist(), pa.string()) if is_text else pa.array(labels)]
    if len(names) > 1:
        columns += [pa.array(column) for column in rules.predict_proba(table, n_jobs=jobs).T]
    return pa.table(columns, names=list(names))
