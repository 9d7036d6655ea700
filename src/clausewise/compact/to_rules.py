"""Conversion of a fitted model to a rule set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausewise.compact.bins import Bins
from clausewise.compact.examples import Examples
from clausewise.compact.model import Votes
from clausewise.compact.points import exact
from clausewise.rules.ruleset import RuleSet

# Votes by which a class without rows trails the others: a probability of exp(−32) is negligible.
NEVER = 32.0


def rule_set_of(outputs: Sequence[Votes], rules: RuleSet, present: NDArray[np.int32], bins: Bins) -> RuleSet:
    """Return the rules of a model's outputs, over the classes and features of a rule set.

    `present` holds the classes that the model knows. The others never win, and their probability is
    practically 0.
    """
    listed = [
        (importance, output, member, weight)
        for output, votes in enumerate(outputs)
        for member, weight, importance in zip(
            votes.members, exact(votes.weights).tolist(), votes.importance.tolist(), strict=True
        )
        if weight != 0
    ]
    of_premise: dict[int, float] = {}
    for importance, _, member, _ in listed:
        of_premise[id(member)] = of_premise.get(id(member), 0.0) + importance
    # Sorting is stable, so the classes of a shared premise stay together, in their order.
    listed.sort(key=lambda rule: -of_premise[id(rule[2])])
    votes = class_votes(
        np.array([output for _, output, _, _ in listed], dtype=np.int64),
        np.array([weight for *_, weight in listed], dtype=np.float64),
        exact(np.array([votes.intercept for votes in outputs])),
        present,
        len(rules.classes),
    )
    return RuleSet.from_arrays(
        rules.features,
        rules.classes,
        rules.labels[int(votes.base.argmax())],
        **bins.terms_of([member.box for _, _, member, _ in listed]),
        class_index=votes.class_index,
        weight=votes.weights,
        origins=[member.origin for _, _, member, _ in listed],
        voting="weights",
        base=votes.base,
    )


@dataclass(frozen=True, eq=False)
class ClassVotes:
    """The class and the weight of each rule, and the base votes of each class."""

    class_index: NDArray[np.int32]
    weights: NDArray[np.float64]
    base: NDArray[np.float64]


def class_votes(
    of_output: NDArray[np.int64],
    weights: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    present: NDArray[np.integer],
    n_classes: int,
) -> ClassVotes:
    """Return what a model's outputs mean as votes for classes; classes that are not present never win.

    `of_output` is the output of each rule, and `present` holds the classes that the model knows.
    """
    if len(intercepts) == 1:
        # A negative weight for the second class is a positive one for the first.
        of_rule, weights = (weights > 0).astype(np.int64), np.abs(weights)
        of_class = np.array([max(-intercepts[0], 0.0), max(intercepts[0], 0.0)])
    else:
        of_rule = of_output
        of_class = intercepts - intercepts.min()
    base = np.full(n_classes, min(np.floor(weights[weights < 0].sum()), 0.0) - NEVER)
    base[present] = of_class
    return ClassVotes(present[of_rule].astype(np.int32), weights, base)


def constant_rules(rules: RuleSet, examples: Examples) -> RuleSet:
    """Return a rule set without rules that predicts the class of the first example for every row.

    The probabilities are the mean of the given ones; without them, that class is certain.
    """
    code = int(examples.codes[0])
    mean = np.average(examples.target_probabilities, axis=0, weights=examples.weights)
    base = exact(np.log(np.maximum(mean, np.exp(-NEVER))))
    base[code] = base.max()  # even if rows with nearly tied probabilities favour another class
    return RuleSet.from_rules(
        [],
        rules.features,
        default=rules.labels[code],
        classes=rules.classes,
        voting="weights",
        base=base - base.max(),
    )
