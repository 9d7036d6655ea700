"""`clausewise compare`: the difference between two rule sets."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from clausewise.analysis import Comparison
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import rows_for_both
from clausewise.cli.printing import print_json
from clausewise.cli.rule_files import AnyRules, read_rules
from clausewise.cli.table_files import Source
from clausewise.rules import RegressionRules


def _compared(old: AnyRules, new: AnyRules, X: Any) -> Comparison:
    if isinstance(old, RegressionRules) and isinstance(new, RegressionRules):
        return old.compare(new, X)
    if isinstance(old, RegressionRules) or isinstance(new, RegressionRules):
        raise ValueError("One file has rules for numbers, and the other rules for classes.")
    return old.compare(new, X)


@reporting_errors
def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The earlier rule file.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The later rule file.")],
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="Rows, to list those whose decision flips.")
    ] = None,
    format: options.DataFormat = None,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """List the rules that were added, removed or changed, and the rows whose decision flips."""
    old, new = read_rules(before), read_rules(after)
    X = None if data is None else rows_for_both(Source.of(data, format), old, new).X
    comparison = _compared(old, new, X)
    if not as_json:
        print(comparison)
        return
    old_text, new_text = comparison.texts
    print_json(
        {
            "added": [new_text[number] for number in comparison.added],
            "removed": [old_text[number] for number in comparison.removed],
            "changed": [[old_text[one], new_text[other]] for one, other in comparison.changed],
            "n_same": comparison.n_same,
            "settings": comparison.settings,
            "flips": None if comparison.flips is None else asdict(comparison.flips),
        }
    )
