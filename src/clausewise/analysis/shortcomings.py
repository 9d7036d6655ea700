"""Where the decisions of rules fall short: classes never predicted, and a baseline that is not beaten."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import Label
from clausewise.rules.abstention import ABSTAINS
from clausewise.rules.metrics import wilson_interval
from clausewise.rules.term import format_category

Codes = NDArray[np.integer[Any]]

# A class that is wanted on fewer rows may well be missing from a short rule set.
_MIN_FRACTION = 0.01
_SHOWN_CLASSES = 8


def classes_never_predicted(decided: Codes, wanted: Codes) -> list[int]:
    """Return the classes that are wanted on at least 1 % of the rows, and that the rules predict on none."""
    return _never_decided(np.bincount(wanted), np.bincount(decided[decided != ABSTAINS]))


def _never_decided(n_wanted: NDArray[np.int64], n_decided: NDArray[np.int64]) -> list[int]:
    is_frequent = (n_wanted > 0) & (n_wanted >= _MIN_FRACTION * n_wanted.sum())
    is_decided = np.zeros(len(n_wanted), dtype=bool)
    is_decided[np.flatnonzero(n_decided[: len(n_wanted)])] = True
    return [int(code) for code in np.flatnonzero(is_frequent & ~is_decided)]


def shortcomings(
    decided: Codes,
    wanted: Codes,
    labels: Sequence[Label],
    *,
    n_rules: int,
    source: str = "the network",
    weights: NDArray[np.float64] | None = None,
    counts: NDArray[np.int64] | None = None,
    can_balance: bool = False,
    is_balanced: bool = False,
) -> tuple[str, ...]:
    """Return a sentence for each way in which the decisions on rows fall short of those wanted.

    Parameters
    ----------
    decided, wanted : ndarray of int, of shape (n_rows,)
        The class that the rules give to each row, and the one that they should, as class indices.
    labels : sequence of class labels
        The label of each class index.
    n_rules : int
        Number of rules.
    source : str
        Where the wanted classes come from.
    weights : ndarray of shape (n_rows,), optional
        How much each row counts for fidelity.
    counts : ndarray of shape (n_rows,), optional
        How many equal rows each one stands for.
    can_balance : bool, default False
        Whether the rules come from a fit with a parameter `balance` that was not used.
    is_balanced : bool, default False
        Whether they were fitted with all classes counting alike. That costs fidelity on purpose, which is
        then not compared with the baseline.
    """
    if (wanted == wanted[0]).all():
        only = format_category(labels[int(wanted[0])])
        return (f"{source.capitalize()} gives all rows the class {only}, so fidelity says little here.",)
    n_wanted = np.bincount(wanted, weights=counts).astype(np.int64)
    missing = _never_decided(n_wanted, np.bincount(decided[decided != ABSTAINS]))
    found = [_never_predicted(missing, n_wanted, labels, n_rules, source, can_balance and not is_balanced)]
    if not is_balanced:
        importance = counts if weights is None else weights
        found.append(_below_baseline(decided, wanted, labels, importance, n_wanted))
    return tuple(sentence for sentence in found if sentence is not None)


def _never_predicted(
    missing: list[int],
    n_wanted: NDArray[np.int64],
    labels: Sequence[Label],
    n_rules: int,
    source: str,
    can_balance: bool,
) -> str | None:
    if not missing:
        return None
    n_rows = int(n_wanted.sum())
    names = [format_category(labels[code]) for code in missing]
    if len(missing) == 1:
        what = f"class {names[0]}, which {source} gives to {n_wanted[missing[0]]:,} of {n_rows:,} rows"
    else:
        listed = [f"{name} ({n_wanted[code]:,} rows)" for name, code in zip(names, missing, strict=True)]
        more = f" and {len(listed) - _SHOWN_CLASSES} more" if len(listed) > _SHOWN_CLASSES else ""
        what = f"{len(missing)} classes of {source}: {', '.join(listed[:_SHOWN_CLASSES])}{more}"
    n_present = int(np.count_nonzero(n_wanted))
    advice = ""
    if 0 < n_rules < n_present - 1:
        advice = " There are fewer rules than classes; a larger max_rules may help."
    # Balancing gives every class the weight of 1 / n_present of the rows: it helps those with clearly fewer.
    elif can_balance and 2 * n_present * n_wanted[missing].min() <= n_rows:
        advice = " balance='balanced' counts all classes alike, at a cost in fidelity."
    return f"The rules never predict {what}.{advice}"


def _below_baseline(
    decided: Codes,
    wanted: Codes,
    labels: Sequence[Label],
    weights: NDArray[Any] | None,
    n_wanted: NDArray[np.int64],
) -> str | None:
    of_class = np.bincount(wanted, weights=weights)
    most_frequent = int(of_class.argmax())
    baseline = float(of_class[most_frequent] / of_class.sum())
    n_rows = int(n_wanted.sum())
    low, high = wilson_interval(baseline * n_rows, n_rows)
    fidelity = float(np.average(decided == wanted, weights=weights))
    if fidelity > high:
        return None
    always = format_category(labels[most_frequent])
    return (
        f"Fidelity is {100 * fidelity:.2f} %, not clearly above the {100 * baseline:.2f} % (95 % interval "
        f"{100 * low:.2f} to {100 * high:.2f} %) of always predicting {always}."
    )
