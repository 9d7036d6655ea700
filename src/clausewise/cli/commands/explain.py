"""`clausewise explain`: why rows are decided as they are, or a summary of the rules."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer

from clausewise.analysis import Counterfactual, Explanation, SumExplanation
from clausewise.base.counts import count_of
from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.input_rows import rows_for_rules
from clausewise.cli.models import load_network
from clausewise.cli.printing import print_json
from clausewise.cli.rule_files import AnyRules, read_rules
from clausewise.cli.table_files import Source
from clausewise.data.features import Features
from clausewise.data.rows import take_rows
from clausewise.rules import RegressionRules
from clausewise.rules.term import format_category

_ROWS_BY_DEFAULT = 5


def _feature_option(name: str, help: str) -> Any:
    return typer.Option(name, metavar="FEATURE", help=f"{help} (repeatable).")


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
    model: options.Model = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="CLASS", help="The decision that a change should lead to.")
    ] = None,
    above: Annotated[
        float | None,
        typer.Option("--above", help="For numbers: what a change should raise the number above."),
    ] = None,
    below: Annotated[
        float | None,
        typer.Option("--below", help="For numbers: what a change should bring the number below."),
    ] = None,
    max_features: Annotated[
        int | None, typer.Option("--max-features", min=1, help="How many features may change; 2 by default.")
    ] = None,
    fixed: Annotated[list[str] | None, _feature_option("--fixed", "A feature that may not change")] = None,
    increase_only: Annotated[
        list[str] | None, _feature_option("--increase-only", "A feature that may only become larger")
    ] = None,
    decrease_only: Annotated[
        list[str] | None, _feature_option("--decrease-only", "A feature that may only become smaller")
    ] = None,
    allowed: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed",
            metavar="FEATURE=VALUES",
            help="What a feature may become: age=18:65 or job=nurse,teacher (repeatable).",
        ),
    ] = None,
    classes: options.Classes = None,
    trust: options.Trust = None,
    format: options.DataFormat = None,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """Explain decisions: the rules that fired, their votes, and near misses. A number is explained as a sum.

    With --counterfactuals, also the smallest change that flips the decision, or brings a number --above or
    --below another; with --model, a change that the network confirms.
    """
    wishes: dict[str, Any] = {
        "to": to,
        "above": above,
        "below": below,
        "max_features": max_features,
        "fixed": fixed,
        "increase_only": increase_only,
        "decrease_only": decrease_only,
    }
    is_given = [value is not None and value != [] for value in (*wishes.values(), model, allowed)]
    if not counterfactuals and any(is_given):
        raise typer.BadParameter("--model, --to and limits on what may change need --counterfactuals")
    ruleset = read_rules(rules)
    is_for_numbers = isinstance(ruleset, RegressionRules)
    for name in ("to",) if is_for_numbers else ("above", "below"):
        if wishes.pop(name) is not None:
            kind = "numbers; pass --above or --below" if is_for_numbers else "classes; pass --to"
            raise typer.BadParameter(f"--{name} is not for rules for {kind}")
    if data is None:
        if row or counterfactuals:
            raise typer.BadParameter("--row and --counterfactuals need rows; pass DATA")
        _print_summary(ruleset, as_json)
        return
    rows = rows_for_rules(Source.of(data, format), ruleset)
    numbers = row or list(range(min(_ROWS_BY_DEFAULT, len(rows))))
    if max(numbers) >= len(rows):
        raise IndexError(
            f"There is no row {max(numbers)}: {data} has {count_of(len(rows), 'row')}, numbered from 0."
        )
    chosen = rows.take(np.array(numbers))
    changes = None
    if counterfactuals:
        network = None if model is None else load_network(model, classes, trust, for_numbers=is_for_numbers)
        known = rows.X if network is None else rows.for_network(network)
        wishes["max_features"] = max_features or 2
        wishes["allowed"] = dict(_allowed_values(text, ruleset.features) for text in allowed or ())
        changes = ruleset.counterfactuals(
            take_rows(known, np.array(numbers)), reference=known, network=network, **wishes
        )
    explanations: Sequence[Explanation | SumExplanation] = ruleset.explain(chosen.X)
    for place, (number, explanation) in enumerate(zip(numbers, explanations, strict=True)):
        change = None if changes is None else changes[place]
        if as_json:
            print_json(_as_json(number, explanation) | _counterfactual_json(change))
            continue
        print(str(explanation).replace(f"row {explanation.row} →", f"row {number} →", 1))
        if change is not None:
            print(f"  {str(change).partition(': ')[2]}")


def _print_summary(rules: AnyRules, as_json: bool) -> None:
    if isinstance(rules, RegressionRules):
        _print_sum(rules, as_json)
        return
    summary = rules.explain_global()
    if not as_json:
        print(summary)
        return
    use = zip(rules.features.names, summary.feature_use.tolist(), strict=True)
    counts = {name: dict(zip(map(str, rules.labels), row, strict=True)) for name, row in use}
    print_json({"n_rules": len(rules), "voting": rules.voting, "rules_per_feature_and_class": counts})


def _print_sum(rules: RegressionRules, as_json: bool) -> None:
    if not as_json:
        print(rules)
        return
    uses = {name: len(rules.filter(feature=name)) for name in rules.features.names}
    linear = {term.name: term.coefficient for term in rules.linear}
    settings = {"n_rules": len(rules), "voting": rules.voting, "base": rules.base, "linear": linear}
    print_json({**settings, "rules_per_feature": uses})


def _as_json(number: int, explanation: Explanation | SumExplanation) -> dict[str, Any]:
    near = [{"rule": miss.number, "reason": miss.reason} for miss in explanation.near_misses]
    if isinstance(explanation, SumExplanation):
        return {**_sum_json(number, explanation), "near_misses": near}
    return {**_explanation_json(number, explanation), "near_misses": near}


def _sum_json(number: int, explanation: SumExplanation) -> dict[str, Any]:
    return {
        "row": number,
        "prediction": explanation.prediction,
        "sum": explanation.total,
        "base": explanation.base,
        "fired": [
            {"rule": part.number, "adds": part.addition, "text": str(part.rule)} for part in explanation.fired
        ],
        "linear": [
            {"feature": part.term.name, "value": part.value, "adds": part.addition}
            for part in explanation.linear
        ],
    }


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
    }


def _counterfactual_json(found: Counterfactual | None) -> dict[str, Any]:
    if found is None:
        return {}
    changes = [{"feature": one.feature, "from": one.before, "to": one.after} for one in found.changes]
    entry = {"becomes": found.becomes, "changes": changes, "distance": found.distance}
    if found.network_after is not None:
        entry |= {"network": found.network_after, "confirmed": found.is_confirmed}
    return {"counterfactual": entry}


def _allowed_values(text: str, features: Features) -> tuple[str, Any]:
    """Read `age=18:65` or `job=nurse,teacher`: a feature, and the range or the values that it may become."""
    named = [name for name in features.names if text.startswith(f"{name}=")]
    if not named:
        raise typer.BadParameter(f"--allowed {text!r} does not begin with a feature and =")
    name = max(named, key=len)
    values = text[len(name) + 1 :]
    feature = features.index(name)
    categories = features.categories[feature]
    if categories is not None:
        by_text = {format_category(category): category for category in categories}
        return name, [by_text.get(value, value) for value in values.split(",")]
    if features.kinds[feature] == "binary":
        return name, [{"true": True, "false": False}.get(v.lower(), v) for v in values.split(",")]
    try:
        if ":" in values:
            low, high = (float(bound) if bound else None for bound in values.split(":"))
            return name, (low, high)
        return name, [float(value) for value in values.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"--allowed {text!r} is not a range such as 18:65, or numbers with commas between"
        ) from None
