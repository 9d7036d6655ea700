"""`clausewise extract`: rules from a trained network."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from clausewise.base.counts import count_of
from clausewise.base.parameters import one_of
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import Rows, rows_for_network, split_held_out
from clausewise.cli.measures import measures_of, printed_measures
from clausewise.cli.model_errors import model_errors_named, require_numbers_as_in
from clausewise.cli.models import load_network
from clausewise.cli.output_files import is_stdout, require_writable
from clausewise.cli.printing import console, print_json, print_pairs, print_rules
from clausewise.cli.rule_files import AnyRules, write_rules
from clausewise.cli.streamed_rows import StreamedRows, is_large, streamed_for_network
from clausewise.cli.table_files import STDIN, Source
from clausewise.compact.losses import LOSSES
from clausewise.extractors.held_out import with_guarantee
from clausewise.extractors.methods import AUTO, ESTIMATORS, REGRESSION, chosen_method
from clausewise.networks import Network


@reporting_errors
def extract(
    model: options.ModelFile,
    data: options.DataFile,
    output: options.RulesOutput = None,
    method: Annotated[
        str,
        typer.Option(
            callback=options.checked(one_of(AUTO, *ESTIMATORS)),
            help=f"One of {options.comma_separated(ESTIMATORS)}; auto (the default) chooses by the model.",
        ),
    ] = AUTO,
    max_rules: Annotated[
        Any,
        typer.Option(
            parser=options.parse_max_rules,
            metavar="N",
            help="Maximum number of rules; auto (the default) chooses it, all returns every rule.",
        ),
    ] = "auto",
    max_conditions: Annotated[
        int | None,
        typer.Option(min=2, help="Maximum to read: rules, bounds and named categories together."),
    ] = None,
    min_cases: Annotated[
        Any,
        typer.Option(
            parser=options.parse_min_cases,
            metavar="N",
            help="Minimum number of rows per rule, or fraction of rows, or auto.",
        ),
    ] = None,
    target: options.Target = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of DATA that the network does not read (repeatable)."),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column of a CSV file that is text but looks like numbers (repeatable)."
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="DATA", help="File of rows to measure on, instead of held-out rows.")
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.9, help="Fraction of rows held out to measure on, and for the rules' guarantee."
        ),
    ] = 0.2,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="For numbers: largest difference that counts as agreement; needed for a guarantee.",
        ),
    ] = None,
    voting: options.ExtractedVoting = None,
    synthetic: options.Synthetic = None,
    linear: Annotated[
        bool, typer.Option("--linear", help="For numbers: let a few features have coefficients.")
    ] = False,
    loss: Annotated[
        str | None,
        typer.Option(
            callback=options.checked(one_of(*LOSSES)),
            help=f"For numbers: {options.comma_separated(LOSSES)}; squared by default.",
        ),
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write an HTML report of the rules.")
    ] = None,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Extract rules from a trained model, and measure how well they agree with it on held-out rows."""
    if as_json and is_stdout(output):
        raise typer.BadParameter("--json prints the measures to standard output; pass -o FILE for the rules")
    for path in (output, report):
        require_writable(path)
    started = time.perf_counter()
    budget = {"max_rules": max_rules, "max_conditions": max_conditions}
    others = {"min_cases": min_cases, "voting": voting, "synthetic": synthetic, "loss": loss}
    others["linear"] = True if linear else None
    if tolerance is not None and (test is not None or holdout == 0.0):
        raise typer.BadParameter(
            "--tolerance is for the guarantee of held-out rows, and none are held out; "
            "`clausewise validate` counts one on a file of rows"
        )
    if method != AUTO:
        _extractor(method, budget, others)  # reports an option that it does not have before anything is read
    for_numbers = method == REGRESSION
    network = load_network(model, classes, trust, for_numbers=for_numbers, data=data)
    columns = (target, drop or (), text or ())
    source = Source.of(data, format)
    train, held_out = _rows(source, network, columns, holdout if test is None else 0.0, seed, method)
    if test is not None:
        held_out = rows_for_network(Source.of(test), network, *columns, for_numbers=for_numbers)
        if train.table is not None:
            require_numbers_as_in(train.table, held_out.table, Source.of(test))
    with model_errors_named(network, train.names, source, train.table):
        method = chosen_method(network, train.few) if method == AUTO else method
    if tolerance is not None and method != REGRESSION:
        raise typer.BadParameter("--tolerance is for rules for numbers; these rules predict classes")
    extractor = _extractor(method, budget, others)
    extractor.set_params(random_state=seed, n_jobs=jobs, verbose=0 if quiet else 1)
    with model_errors_named(network, train.names, source, train.table):
        extractor.set_params(network=network).fit(train.X, train.y)
    if method == REGRESSION:
        extractor.rules_ = extractor.rules_.with_response(target)
    # A file of rows to test on may have been used before, so `clausewise validate` counts a guarantee on it.
    if test is None and len(held_out) and (method != REGRESSION or tolerance is not None):
        extractor.rules_ = with_guarantee(extractor.rules_, held_out.X, network, tolerance, seed=seed)
    rules, sizes = extractor.rules_, extractor.report_.sizes
    measured = held_out if len(held_out) else train
    with model_errors_named(network, measured.names, source if test is None else Source.of(test)):
        evaluation = rules.evaluate(measured.X, measured.y, network=network, n_jobs=jobs)
    n_shared = None if test is None else _n_learnt(rules, held_out, Source.of(test))
    is_held_out = bool(len(held_out)) and not n_shared
    seconds = time.perf_counter() - started
    write_rules(rules, output)
    if report is not None:
        extractor.report(report, measured.X, measured.y)
    if as_json:
        print_json(
            {
                "method": method,
                "n_rules": len(rules),
                "n_rows": len(train),
                "n_rows_measured": len(measured),
                "held_out": is_held_out,
                "n_rows_shared": n_shared,
                **measures_of(evaluation),
                "guarantee": None if rules.guaranteed is None else rules.guaranteed.summary,
                "seconds": seconds,
                "output": output,
                "report": report,
            }
        )
        return
    to = console(stderr=is_stdout(output))
    print_rules(rules, to)
    to.print()
    if test is not None:
        measured_on = f"{count_of(len(measured), 'row')} of {test}"
    elif len(held_out):
        measured_on = count_of(len(measured), "held-out row")
    else:
        measured_on = f"{count_of(len(measured), 'training row')}; no rows were held out"
    print_pairs(
        {
            "measured on": measured_on,
            "method": extractor.report_.method,
            **printed_measures(evaluation),
            **({} if sizes is None else {"other sizes": sizes.summary(rules.reading_cost)}),
            "time": f"{seconds:.1f} s",
        },
        to,
    )
    for warning in evaluation.warnings:
        to.print(Text(f"Warning: {warning}"))
    if output is not None and not is_stdout(output):
        _print_next_steps(output, data, model, report, to)


def _rows(
    source: Source,
    network: Network,
    columns: tuple[str | None, Sequence[str], Sequence[str]],
    holdout: float,
    seed: int,
    method: str,
) -> tuple[Rows | StreamedRows, Rows]:
    """Return rows to learn from and held-out rows; many rows are read in parts."""
    target, drop, _ = columns
    for_numbers = method == REGRESSION
    if is_large(source):
        return streamed_for_network(source, network, target, drop, holdout, seed, for_numbers=for_numbers)
    rows = rows_for_network(source, network, *columns, for_numbers=for_numbers)
    return split_held_out(rows, holdout, seed)


def _n_learnt(rules: AnyRules, rows: Rows, source: Source) -> int:
    """Return how many rows the rules were learnt from, and print a note if there are any."""
    learnt = rules.learnt_rows
    assert learnt is not None  # as of all rules that were just learnt
    is_learnt, can_be_looked_up = learnt.look_up(rules.features.names, rules.features.encode(rows.X))
    n_found, n_unknown = int(is_learnt.sum()), int((~can_be_looked_up).sum())
    if n_found:
        warnings.warn(
            f"The rules were learnt from {n_found:,} of the {count_of(len(rows), 'row')} of {source.shown}, "
            "so the measures say less about other rows.",
            stacklevel=2,
        )
    if n_unknown:
        warnings.warn(
            f"Whether the rules were learnt from {n_unknown:,} of the {count_of(len(rows), 'row')} of "
            f"{source.shown} is not known, since the record of learnt rows is partial.",
            stacklevel=2,
        )
    return n_found


def _extractor(method: str, budget: Mapping[str, Any], others: Mapping[str, Any]) -> Any:
    """Return the estimator with the options that were given; methods do not have all of them."""
    if method == REGRESSION and budget["max_rules"] is None:
        raise typer.BadParameter("--max-rules all is for rules for classes; pass a number of rules")
    extractor: Any = ESTIMATORS[method]().set_params(**budget)
    known = extractor.get_params(deep=False)
    for name, value in others.items():
        if value is None:
            continue
        if name not in known:
            raise typer.BadParameter(f"{method} does not have the option --{name.replace('_', '-')}")
        extractor.set_params(**{name: value})
    return extractor


def _print_next_steps(output: str, data: str, model: str, report: str | None, to: Console) -> None:
    lines = ["", f"rules in {output}" + (f", report in {report}" if report else "")]
    if data != STDIN:
        lines.append(f"  clausewise explain {output} {data}")
        lines.append(f"  clausewise explore {output} --data {data} --model {model}")
    lines.append(f"  clausewise export {output} --to sql")
    to.print(Text("\n".join(lines)))
