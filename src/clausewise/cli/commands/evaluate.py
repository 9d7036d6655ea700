"""`clausewise evaluate`: measures of rules on rows."""

from dataclasses import asdict
from typing import Annotated

import typer

from clausewise.analysis import Evaluation, RegressionEvaluation
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import rows_for_rules
from clausewise.cli.models import load_network
from clausewise.cli.printing import print_json
from clausewise.cli.rule_files import read_rules
from clausewise.cli.streamed_rows import is_large, streamed_for_rules
from clausewise.cli.table_files import Source
from clausewise.rules import RegressionRules


@reporting_errors
def evaluate(
    rules: options.RulesFile,
    data: options.DataFile,
    target: options.Target = None,
    model: options.Model = None,
    voting: options.Voting = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0.0, help="Largest error of a number that counts as right.")
    ] = None,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure rules on rows against the true classes or numbers, a network, or both."""
    if target is None and model is None:
        raise typer.BadParameter("pass what to measure against: --target COLUMN, --model MODEL, or both")
    ruleset = read_rules(rules)
    is_for_numbers = isinstance(ruleset, RegressionRules)
    if is_for_numbers and voting is not None:
        raise typer.BadParameter("--voting is for rules for classes; these rules add numbers")
    if not is_for_numbers and tolerance is not None:
        raise typer.BadParameter("--tolerance is for rules for numbers; these rules predict classes")
    source = Source.of(data, format)
    loaded = None if model is None else load_network(model, classes, trust, for_numbers=is_for_numbers)
    evaluation: Evaluation | RegressionEvaluation
    if is_large(source):
        many = streamed_for_rules(source, ruleset)
        verbose = 0 if quiet else 1
        if isinstance(ruleset, RegressionRules):
            evaluation = ruleset.evaluate(
                many, target, network=loaded, tolerance=tolerance, n_jobs=jobs, verbose=verbose
            )
        else:
            evaluation = ruleset.evaluate(
                many,
                target,
                network=loaded,
                voting=voting,  # type: ignore[arg-type]
                n_jobs=jobs,
                verbose=verbose,
            )
        _print(evaluation, as_json)
        return
    rows = rows_for_rules(source, ruleset, target)
    network = None if loaded is None else rows.network_answers(loaded, ruleset)
    if isinstance(ruleset, RegressionRules):
        evaluation = ruleset.evaluate(rows.X, rows.y, network=network, tolerance=tolerance, n_jobs=jobs)
    else:
        evaluation = ruleset.evaluate(rows.X, rows.y, network=network, voting=voting, n_jobs=jobs)  # type: ignore[arg-type]
    _print(evaluation, as_json)


def _print(evaluation: Evaluation | RegressionEvaluation, as_json: bool) -> None:
    if as_json:
        print_json(asdict(evaluation))
    else:
        print(evaluation)
