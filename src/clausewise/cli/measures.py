"""How well rules agree with a network and with the true classes, for printing."""

from typing import Any

from clausewise.analysis import Evaluation
from clausewise.cli.printing import percent

_NAMES = {
    "fidelity": "fidelity to the network",
    "fidelity_baseline": "majority baseline",
    "accuracy": "accuracy",
    "accuracy_of_network": "accuracy of the network",
    "coverage": "covered by a rule",
}


def measures_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return the measures to print after an extraction; None where labels are not known."""
    names = (*_NAMES, "fidelity_interval", "reading_cost", "warnings")
    return {name: getattr(evaluation, name) for name in names}


def printed_measures(evaluation: Evaluation) -> dict[str, str]:
    """Return names and values of the measures that are known."""
    measures = measures_of(evaluation)
    printed = {name: percent(measures[key]) for key, name in _NAMES.items() if measures[key] is not None}
    if evaluation.fidelity_interval is not None:
        low, high = evaluation.fidelity_interval
        printed[_NAMES["fidelity"]] += f" (95 % interval {100 * low:.2f} to {100 * high:.2f} %)"
    printed["reading cost"] = f"{evaluation.reading_cost:,}"
    return printed
