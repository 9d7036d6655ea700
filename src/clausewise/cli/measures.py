"""How well rules agree with a network and with the true classes, for printing."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from clausewise.cli.input_rows import Rows
from clausewise.cli.printing import percent
from clausewise.rules import RuleSet
from clausewise.rules.metrics import accuracy, coverage, fidelity

_NAMES = {
    "fidelity": "fidelity to the network",
    "accuracy": "accuracy",
    "accuracy_of_network": "accuracy of the network",
    "coverage": "covered by a rule",
}


def measure(rules: RuleSet, rows: Rows, network: NDArray[Any] | None) -> dict[str, float | None]:
    """Measure rules on rows; measures that need labels which are not known are None."""
    predicted = rules.predict(rows.X)
    return {
        "fidelity": None if network is None else fidelity(predicted, network),
        "accuracy": None if rows.y is None else accuracy(predicted, rows.y),
        "accuracy_of_network": None if rows.y is None or network is None else accuracy(network, rows.y),
        "coverage": coverage(rules, rows.X),
    }


def printed_measures(measures: Mapping[str, float | None]) -> dict[str, str]:
    """Return names and percentages of the measures that are known."""
    return {name: percent(measures[key]) for key, name in _NAMES.items() if measures[key] is not None}
