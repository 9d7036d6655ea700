"""`clausewise compact` and `clausewise simplify`: fewer rules from rules."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from numpy.typing import NDArray
from rich.text import Text

from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import Rows, rows_for_rules
from clausewise.cli.models import load_network
from clausewise.cli.output_files import is_stdout
from clausewise.cli.printing import console, percent, print_rules
from clausewise.cli.rule_files import read_rules, write_rules
from clausewise.cli.table_files import Source
from clausewise.rules import RuleSet
from clausewise.rules.metrics import fidelity


@reporting_errors
def compact(
    rules: options.RulesFile,
    data: options.DataFile,
    output: options.Output = None,
    model: options.Model = None,
    target: options.Target = None,
    max_rules: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of rules; by default, chosen from the data.")
    ] = None,
    max_conditions: Annotated[
        int | None,
        typer.Option(min=2, help="Maximum to read: rules, bounds and named categories together."),
    ] = None,
    max_terms: Annotated[int, typer.Option(min=1, help="Maximum number of terms per rule.")] = 6,
    min_fidelity: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Use the least to read that reaches this fidelity.")
    ] = None,
    points: Annotated[
        bool, typer.Option("--points", help="Integer weights from −5 to 5, to add up by hand.")
    ] = False,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Search for the small rule set that agrees most with a network, or with labels."""
    ruleset = read_rules(rules)
    rows, labels = _rows_and_labels(ruleset, data, format, model, target, classes, trust)
    if labels is None:
        raise typer.BadParameter("pass what to imitate: --model MODEL or --target COLUMN")
    small = ruleset.compact(
        rows.X,
        labels,
        max_rules=max_rules,
        max_conditions=max_conditions,
        max_terms=max_terms,
        min_fidelity=min_fidelity,
        points=points,
        random_state=seed,
        n_jobs=jobs,
        verbose=0 if quiet else 1,
    )
    write_rules(small, output)
    to = console(stderr=is_stdout(output))
    print_rules(small, to)
    before, after = (percent(fidelity(some.predict(rows.X), labels)) for some in (ruleset, small))
    to.print(Text(f"fidelity on these rows {after}, before {before} with {len(ruleset):,} rules"))


@reporting_errors
def simplify(
    rules: options.RulesFile,
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="Rows to measure on; required with --tolerance.")
    ] = None,
    output: options.Output = None,
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Fraction of rows on which agreement may be lost.")
    ] = 0.0,
    model: options.Model = None,
    target: options.Target = None,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    debug: options.Debug = False,
) -> None:
    """Remove rules and terms without changing any decision, or within a tolerance on DATA."""
    ruleset = read_rules(rules)
    if data is None:
        if tolerance > 0 or model is not None or target is not None:
            raise typer.BadParameter("--tolerance, --model and --target need rows; pass DATA")
        simple = ruleset.simplify()
    else:
        rows, labels = _rows_and_labels(ruleset, data, format, model, target, classes, trust)
        simple = ruleset.simplify(tolerance=tolerance, X=rows.X, target=labels)
    write_rules(simple, output)
    console(stderr=True).print(Text(f"{len(ruleset):,} rules became {len(simple):,}"))


def _rows_and_labels(
    rules: RuleSet,
    data: str,
    format: str | None,
    model: str | None,
    target: str | None,
    classes: str | None,
    trust: Sequence[str] | None,
) -> tuple[Rows, NDArray[Any] | None]:
    """Return the rows, and the labels to imitate: the network's, or those of a column."""
    if model is not None and target is not None:
        raise typer.BadParameter("pass either --model MODEL or --target COLUMN, not both")
    rows = rows_for_rules(Source.of(data, format), rules, target)
    if model is None:
        return rows, rows.y
    return rows, rows.network_labels(load_network(model, classes, trust), rules)
