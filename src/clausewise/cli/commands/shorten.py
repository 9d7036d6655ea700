"""`clausewise compact` and `clausewise simplify`: fewer rules from rules."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from numpy.typing import NDArray
from rich.text import Text

from clausewise.base.counts import count_of
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import Rows, rows_for_rules
from clausewise.cli.models import load_network
from clausewise.cli.output_files import is_stdout
from clausewise.cli.printing import console, percent, print_rules
from clausewise.cli.rule_files import AnyRules, read_rules, write_rules
from clausewise.cli.table_files import Source
from clausewise.rules import RegressionRules
from clausewise.rules.metrics import fidelity, r_squared


@reporting_errors
def compact(
    rules: options.RulesFile,
    data: options.DataFile,
    output: options.RulesOutput = None,
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
    """Search for the small rule set that agrees most with a network, or with labels or numbers."""
    ruleset = read_rules(rules)
    of_classes = {"min_fidelity": min_fidelity, "points": points or None}
    if isinstance(ruleset, RegressionRules):
        given = [name for name, value in of_classes.items() if value is not None]
        if given:
            raise typer.BadParameter(f"--{given[0].replace('_', '-')} is for rules for classes")
    rows, answers = _rows_and_answers(ruleset, data, format, model, target, classes, trust)
    if answers is None:
        raise typer.BadParameter("pass what to imitate: --model MODEL or --target COLUMN")
    settings: dict[str, Any] = {
        "max_rules": max_rules,
        "max_conditions": max_conditions,
        "max_terms": max_terms,
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": 0 if quiet else 1,
    }
    small: AnyRules
    if isinstance(ruleset, RegressionRules):
        small = ruleset.compact(rows.X, answers, **settings)
    else:
        small = ruleset.compact(rows.X, answers, min_fidelity=min_fidelity, points=points, **settings)
    write_rules(small, output)
    to = console(stderr=is_stdout(output))
    print_rules(small, to)
    before, after = (_agreement(some, rows.X, answers) for some in (ruleset, small))
    to.print(Text(f"{after} on these rows, before {before} with {count_of(len(ruleset), 'rule')}"))


def _agreement(rules: AnyRules, X: Any, answers: NDArray[Any]) -> str:
    predicted = rules.predict(X)
    if isinstance(rules, RegressionRules):
        return f"R² {r_squared(predicted, answers):.4f}"
    return f"fidelity {percent(fidelity(predicted, answers))}"


@reporting_errors
def simplify(
    rules: options.RulesFile,
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="Rows to measure on; required with --tolerance.")
    ] = None,
    output: options.RulesOutput = None,
    tolerance: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Fraction of rows on which agreement may be lost, or of R² for numbers."
        ),
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
        simple: AnyRules = ruleset.simplify()
    else:
        rows, labels = _rows_and_answers(ruleset, data, format, model, target, classes, trust)
        simple = ruleset.simplify(tolerance=tolerance, X=rows.X, target=labels)
    write_rules(simple, output)
    console(stderr=True).print(Text(f"{count_of(len(ruleset), 'rule')} became {len(simple):,}"))


def _rows_and_answers(
    rules: AnyRules,
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
    network = load_network(model, classes, trust, for_numbers=isinstance(rules, RegressionRules))
    return rows, rows.network_answers(network, rules)
