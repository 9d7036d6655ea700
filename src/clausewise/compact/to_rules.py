"""From a fitted model to a rule set."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clausewise.compact.bins import Bins
from clausewise.compact.examples import Examples
from clausewise.compact.model import Block
from clausewise.compact.points import exact
from clausewise.rules.ruleset import RuleSet

# Votes by which a class that no row has stays behind: exp(−32) is no probability.
NEVER = 32.0


def rule_set_of(blocks: Sequence[Block], rules: RuleSet, present: NDArray[np.int32], bins: Bins) -> RuleSet:
    """The rules of a model's blocks, over the classes and features of a rule set.

    `present` gives the classes that the model knows. The others never win, and have no probability.
    """
    is_binary = len(blocks) == 1
    listed = [
        (importance, output, member, weight)
        for output, block in enumerate(blocks)
        for member, weight, importance in zip(
            block.members, exact(block.fit.weights).tolist(), block.importance.tolist(), strict=False
        )
        if weight != 0
    ]
    of_premise: dict[int, float] = {}
    for importance, _, member, _ in listed:
        of_premise[id(member)] = of_premise.get(id(member), 0.0) + importance
    # Sorting is stable, so the classes of a shared premise stay together, in their order.
    listed.sort(key=lambda rule: -of_premise[id(rule[2])])
    intercepts = exact(np.array([block.fit.weights[-1] for block in blocks]))
    weights = np.array([weight for *_, weight in listed], dtype=np.float64)
    if is_binary:
        # A weight against the second class is one for the first.
        of_rule, weights = (weights > 0).astype(np.int64), np.abs(weights)
        votes = np.array([max(-intercepts[0], 0.0), max(intercepts[0], 0.0)])
    else:
        of_rule = np.array([output for _, output, _, _ in listed], dtype=np.int64)
        votes = intercepts - intercepts.min()
    base = np.full(len(rules.classes), min(np.floor(weights[weights < 0].sum()), 0.0) - NEVER)
    base[present] = votes
    return RuleSet.from_arrays(
        rules.features,
        rules.classes,
        rules.labels[int(base.argmax())],
        **bins.terms_of([member.box for _, _, member, _ in listed]),
        class_index=present[of_rule].astype(np.int32),
        weight=weights,
        origins=[member.origin for _, _, member, _ in listed],
        voting="weights",
        base=base,
    )


def constant_rules(rules: RuleSet, examples: Examples) -> RuleSet:
    """No rules, over the same features and classes, that decide every row as the first of the examples.

    The probabilities are the mean of those given, or certain.
    """
    code = int(examples.codes[0])
    mean = np.average(examples.target_probabilities, axis=0, weights=examples.weights)
    base = exact(np.log(np.maximum(mean, np.exp(-NEVER))))
    base[code] = base.max()  # whatever rows between two classes say
    return RuleSet.from_rules(
        [],
        rules.features,
        default=rules.labels[code],
        classes=rules.classes,
        voting="weights",
        base=base - base.max(),
    )
