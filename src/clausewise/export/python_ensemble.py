"""A boosted C5.0 classifier as the text of a Python module that imports nothing."""

from collections.abc import Iterator
from typing import Final

from clausewise.export.plan import EnsemblePlan, PlannedTrial
from clausewise.export.python import ROW_FUNCTIONS, as_tuple, local_names, premise

_TEMPLATE: Final = '''\
"""Boosted rules that predict a class: `predict(row)` for one row, `predict_many(rows)` for several.

A row is a mapping from names to values, or a sequence of values in the order of FEATURES. None and NaN are
missing values. Each function whose name begins with `_trial` is one rule set. It votes for one class, with
its confidence in this class.
"""

# {headline}

FEATURES = {features}
CLASSES = {classes}

_IS_NUMBER = {is_number}
_MISSING = float("nan")


def predict(row):
    """Return the class of one row."""
    values = [_value(*cell) for cell in zip(_cells(row), _IS_NUMBER, FEATURES)]
    sums = [0.0] * {n_classes}
    for trial in _TRIALS:
        winner, confidence = trial(values)
        sums[winner] = _single(sums[winner] + confidence)
    return CLASSES[_first_of_greatest(sums, {default})]


{row_functions}

def _first_of_greatest(numbers, default):
    """Return the position of the greatest number; of equal ones the default, or else the first."""
    greatest = max(numbers)
    return default if numbers[default] == greatest else numbers.index(greatest)


def _single(number):
    """Return a number rounded to single precision, in which C5.0 adds confidences."""
    scaled = number * 536870913.0
    return scaled - (scaled - number)


def _verdict(votes, specific, fired, default):
    """Return the class with the most votes, and the confidence in it."""
    if not fired:
        return default, {silent!r}
    winner = _first_of_greatest(votes, default)
    return winner, max(specific[winner] / 1000, votes[winner] / (1000 * fired))


{functions}

_TRIALS = {trials}
'''


def ensemble_to_python(plan: EnsemblePlan) -> str:
    """Return the text of the module; see `C50Classifier.to_python`."""
    functions = [
        "".join(f"{line}\n" for line in _function(plan, number, trial))
        for number, trial in enumerate(plan.trials)
    ]
    return _TEMPLATE.format(
        headline=plan.headline,
        features=as_tuple(map(repr, plan.features.names)),
        classes=as_tuple(map(repr, plan.labels)),
        is_number=as_tuple(repr(kind != "categorical") for kind in plan.features.kinds),
        n_classes=len(plan.labels),
        default=plan.by_rank[0],
        row_functions=ROW_FUNCTIONS,
        silent=plan.trials[0].confidence_of_default,
        functions="\n\n".join(functions),
        trials=as_tuple(f"_trial_{number}" for number in range(len(plan.trials))),
    )


def _function(plan: EnsemblePlan, number: int, trial: PlannedTrial) -> Iterator[str]:
    """Yield a function that returns the class and the confidence of one rule set."""
    variable = local_names(plan, trial.rules)
    n_classes = len(plan.labels)
    yield f"def _trial_{number}(values):"
    yield f'    """Return the verdict of {len(trial.rules)} rules, the most specific first."""'
    yield f"    votes, specific, fired = [0] * {n_classes}, [0] * {n_classes}, 0"
    for feature, local in variable.items():
        yield f"    {local} = values[{feature}]"
    for rule in trial.rules:
        c, votes = rule.class_index, int(rule.votes)
        yield f"    if {premise(plan, rule, variable)}:  # rule {rule.number}"
        yield f"        votes[{c}] += {votes}"
        yield f"        specific[{c}] = specific[{c}] or {votes}"
        yield "        fired += 1"
    yield f"    return _verdict(votes, specific, fired, {trial.by_rank[0]})"
