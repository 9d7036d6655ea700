"""How well rules agree with a network and with the truth, for printing."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from clausewise.analysis import Evaluation, RegressionEvaluation
from clausewise.cli.printing import percent

_NAMES = {
    "fidelity": "fidelity to the network",
    "fidelity_baseline": "majority baseline",
    "accuracy": "accuracy",
    "accuracy_of_network": "accuracy of the network",
    "coverage": "covered by a rule",
}


def measures_of(evaluation: Evaluation | RegressionEvaluation) -> dict[str, Any]:
    """Return the measures to print after an extraction; None where labels are not known."""
    if isinstance(evaluation, RegressionEvaluation):
        of_numbers = ("to_network", "to_truth", "network_to_truth", "coverage", "reading_cost", "warnings")
        return {name: asdict(evaluation)[name] for name in of_numbers}
    names = (*_NAMES, "fidelity_interval", "reading_cost", "warnings")
    return {name: getattr(evaluation, name) for name in names}


def printed_measures(evaluation: Evaluation | RegressionEvaluation) -> dict[str, str]:
    """Return names and values of the measures that are known."""
    if isinstance(evaluation, RegressionEvaluation):
        return {name.strip(): f"{value}  {note}".strip() for name, value, note in _errors(evaluation)}
    measures = measures_of(evaluation)
    printed = {name: percent(measures[key]) for key, name in _NAMES.items() if measures[key] is not None}
    if evaluation.fidelity_interval is not None:
        low, high = evaluation.fidelity_interval
        printed[_NAMES["fidelity"]] += f" (95 % interval {100 * low:.2f} to {100 * high:.2f} %)"
    printed["reading cost"] = f"{evaluation.reading_cost:,}"
    return printed


def _errors(evaluation: RegressionEvaluation) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and note of what is printed of rules for numbers."""
    for whom, errors in (("network", evaluation.to_network), ("truth", evaluation.to_truth)):
        if errors is not None:
            for name, value, note in errors.figures(whom):
                yield name if whom in name else f"{name.strip()} to the {whom}", value, note
    yield "reading cost", f"{evaluation.reading_cost:,}", ""
