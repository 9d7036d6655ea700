"""`clausewise evaluate`: measures of rules on rows."""

from dataclasses import asdict

import typer

from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import rows_for_rules
from clausewise.cli.models import load_network
from clausewise.cli.printing import print_json
from clausewise.cli.rule_files import read_rules
from clausewise.cli.table_files import Source


@reporting_errors
def evaluate(
    rules: options.RulesFile,
    data: options.DataFile,
    target: options.Target = None,
    model: options.Model = None,
    voting: options.Voting = None,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """Measure rules on rows against the true classes, a network, or both."""
    if target is None and model is None:
        raise typer.BadParameter("pass what to measure against: --target COLUMN, --model MODEL, or both")
    ruleset = read_rules(rules)
    if voting is not None:
        ruleset = ruleset.with_voting(voting)  # type: ignore[arg-type]
    rows = rows_for_rules(Source.of(data, format), ruleset, target)
    network = None
    if model is not None:
        network = rows.network_labels(load_network(model, classes, trust), ruleset)
    evaluation = ruleset.evaluate(rows.X, rows.y, network=network, n_jobs=jobs)
    if as_json:
        print_json(asdict(evaluation))
    else:
        print(evaluation)
