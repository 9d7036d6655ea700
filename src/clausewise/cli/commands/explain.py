"""`clausewise explain`: why rows are decided as they are, or a summary of the rules."""

from typing import Annotated, Any

import numpy as np
import typer

from clausewise.analysis import Counterfactual, Explanation
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import rows_for_rules
from clausewise.cli.printing import print_json
from clausewise.cli.rule_files import read_rules
from clausewise.cli.table_files import Source
from clausewise.rules import RuleSet

_ROWS_BY_DEFAULT = 5


@reporting_errors
def explain(
    rules: options.RulesFile,
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="Rows; without them, summarise the rules.")
    ] = None,
    row: Annotated[
        list[int] | None,
        typer.Option(
            "--row",
            min=0,
            help=f"Number of a row, from 0 (repeatable); by default, the first {_ROWS_BY_DEFAULT} rows.",
        ),
    ] = None,
    counterfactuals: Annotated[
        bool, typer.Option("--counterfactuals", help="Add the smallest change that flips the decision.")
    ] = False,
    format: options.DataFormat = None,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """Explain decisions: the rules that fired, their votes, and near misses."""
    ruleset = read_rules(rules)
    if data is None:
        if row or counterfactuals:
            raise typer.BadParameter("--row and --counterfactuals need rows; pass DATA")
        _print_summary(ruleset, as_json)
        return
    rows = rows_for_rules(Source.of(data, format), ruleset)
    numbers = row or list(range(min(_ROWS_BY_DEFAULT, len(rows))))
    if max(numbers) >= len(rows):
        raise IndexError(f"There is no row {max(numbers)}: {data} has {len(rows):,} rows, numbered from 0.")
    chosen = rows.take(np.array(numbers))
    changes = ruleset.counterfactuals(chosen.X, reference=rows.X) if counterfactuals else None
    for place, (number, explanation) in enumerate(zip(numbers, ruleset.explain(chosen.X), strict=True)):
        change = None if changes is None else changes[place]
        if as_json:
            print_json(_explanation_json(number, explanation) | _counterfactual_json(change))
            continue
        print(str(explanation).replace(f"row {explanation.row} →", f"row {number} →", 1))
        if change is not None:
            print(f"  {str(change).partition(': ')[2]}")


def _print_summary(rules: RuleSet, as_json: bool) -> None:
    summary = rules.explain_global()
    if not as_json:
        print(summary)
        return
    use = zip(rules.features.names, summary.feature_use.tolist(), strict=True)
    counts = {name: dict(zip(map(str, rules.labels), row, strict=True)) for name, row in use}
    print_json({"n_rules": len(rules), "voting": rules.voting, "rules_per_feature_and_class": counts})


def _explanation_json(number: int, explanation: Explanation) -> dict[str, Any]:
    return {
        "row": number,
        "prediction": explanation.prediction,
        "voting": explanation.voting,
        "scores": [{"class": label, "votes": votes} for label, votes in explanation.scores.items()],
        "fired": [
            {"rule": rule.number, "votes": rule.votes, "overridden": rule.overridden, "text": rule.text}
            for rule in explanation.fired
        ],
        "near_misses": [{"rule": miss.number, "reason": miss.reason} for miss in explanation.near_misses],
    }


def _counterfactual_json(found: Counterfactual | None) -> dict[str, Any]:
    if found is None:
        return {}
    changes = [{"feature": one.feature, "from": one.before, "to": one.after} for one in found.changes]
    return {"counterfactual": {"becomes": found.becomes, "changes": changes, "distance": found.distance}}
