"""`clausewise report` and `clausewise explore`: the rules as a page."""

from collections.abc import Sequence
from typing import Annotated

import typer

from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import RuleRows, rows_for_rules
from clausewise.cli.models import load_network
from clausewise.cli.output_files import is_stdout, write_bytes
from clausewise.cli.page_options import page_options
from clausewise.cli.rule_files import AnyRules, read_rules
from clausewise.cli.table_files import Source
from clausewise.networks import Network
from clausewise.rules import RegressionRules


@reporting_errors
def report(
    rules: options.RulesFile,
    data: Annotated[str | None, typer.Argument(metavar="DATA", help="Rows to show.")] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The HTML file to write.")
    ] = "report.html",
    model: options.Model = None,
    target: options.Target = None,
    title: options.PageTitle = None,
    labels: options.PageLabels = None,
    color: options.PageColors = None,
    fixed: options.PageFixed = None,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    debug: options.Debug = False,
) -> None:
    """Write a single HTML file that shows the rules and works offline."""
    ruleset = read_rules(rules)
    chosen = page_options(ruleset, labels, color, fixed)
    rows = _rows(ruleset, data, format, target, model)
    X, y, network = None, None, None
    if rows is not None:
        X, y = rows.X, rows.y
        if model is not None:
            network = rows.network_answers(_network(ruleset, model, classes, trust), ruleset)
    page = ruleset.show(X, y, network, title=title, **chosen)
    write_bytes(page.html.encode("utf-8"), output)
    if not is_stdout(output):
        print(output)


@reporting_errors
def explore(
    rules: options.RulesFile,
    data: Annotated[str | None, typer.Option("--data", metavar="DATA", help="Rows to show.")] = None,
    model: options.Model = None,
    target: options.Target = None,
    title: options.PageTitle = None,
    labels: options.PageLabels = None,
    color: options.PageColors = None,
    fixed: options.PageFixed = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the server; by default, any free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    debug: options.Debug = False,
) -> None:
    """Serve a page with the rules, all rows and the network itself; Ctrl-C stops it."""
    ruleset = read_rules(rules)
    chosen = page_options(ruleset, labels, color, fixed)
    rows = _rows(ruleset, data, format, target, model)
    network = None if model is None else _network(ruleset, model, classes, trust)
    X, y = (None, None) if rows is None else (rows.X, rows.y)
    ruleset.explore(X, y, network, title=title, port=port, open_browser=browser, **chosen)


def _network(rules: AnyRules, model: str, classes: str | None, trust: Sequence[str] | None) -> Network:
    return load_network(model, classes, trust, for_numbers=isinstance(rules, RegressionRules))


def _rows(
    rules: AnyRules, data: str | None, format: str | None, target: str | None, model: str | None
) -> RuleRows | None:
    if data is not None:
        return rows_for_rules(Source.of(data, format), rules, target)
    if model is not None:
        raise typer.BadParameter("--model needs rows; pass data too")
    return None
