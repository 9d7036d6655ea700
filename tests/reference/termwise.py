"""Term-wise substitution as a literal cartesian product: nothing is pruned but what never holds."""

from itertools import product

import numpy as np

from clausewise import Features, Rule, Term
from clausewise.induction import PreparedMatrix
from tests.reference.eclaire import rules_of


def rem_d(network, X, features, inducer, weights=None):
    """REM-D: per class the premises over the inputs, repeated and subsumed ones included."""
    matrices = representations(network, X, features)
    classes, clauses = start(network, X, matrices, inducer, weights)
    for upper, lower in zip(matrices[::-1], matrices[-2::-1], strict=False):
        learnt = {}
        clauses = [
            (label, merged)
            for label, terms in clauses
            for merged in combinations(
                [premises_for(t, upper, lower, inducer, weights, learnt) for t in sides(terms)]
            )
        ]
    return by_class(classes, clauses)


def deepred(network, X, features, inducer, weights=None):
    """DeepRED*: premises for every term are learnt down to the inputs, then combined."""
    matrices = representations(network, X, features)
    classes, clauses = start(network, X, matrices, inducer, weights)
    learnt = [{} for _ in matrices]

    def over_inputs(term, level):
        """All premises over the inputs for one term of a layer."""
        found = premises_for(term, matrices[level], matrices[level - 1], inducer, weights, learnt[level])
        if level == 1:
            return found
        return [
            merged
            for premise in found
            for merged in combinations([over_inputs(one, level - 1) for one in sides(premise)])
        ]

    top = len(matrices) - 1
    expanded = [
        (label, merged)
        for label, terms in clauses
        for merged in combinations([over_inputs(term, top) for term in sides(terms)])
    ]
    return by_class(classes, expanded)


def representations(network, X, features):
    layers = list(network.hidden_layers(X))
    hidden = [PreparedMatrix.prepare(layer.matrix, features=Features(layer.unit_names)) for layer in layers]
    return [PreparedMatrix.prepare(X, features=features), *hidden]


def start(network, X, matrices, inducer, weights):
    classes = network.classes.tolist()
    codes = np.array([classes.index(label) for label in network.labels(X).tolist()], dtype=np.int32)
    first = rules_of(inducer, matrices[-1], codes, classes, weights)
    return classes, [(rule.conclusion, rule.terms) for rule in first]


def sides(terms):
    """The one-sided terms of a premise."""
    for term in terms:
        if np.isfinite(term.low):
            yield Term(term.feature, low=term.low)
        if np.isfinite(term.high):
            yield Term(term.feature, high=term.high)


def premises_for(term, upper, lower, inducer, weights, learnt):
    """The premises over the lower representation for a term over the upper one."""
    key = (term.feature, term.low, term.high)
    if key not in learnt:
        holds = [term.holds(value) for value in upper.table[:, term.feature].tolist()]
        codes = np.array([0 if one else 1 for one in holds], dtype=np.int32)
        rules = rules_of(inducer, lower, codes, (True, False), weights)
        learnt[key] = [rule.terms for rule in rules if rule.conclusion is True]
    return learnt[key]


def combinations(factors):
    """One premise of each factor, joined, in all ways that can hold."""
    for chosen in product(*factors):
        rule = Rule(tuple(term for premise in chosen for term in premise), True)
        if rule.is_satisfiable:
            yield rule.terms


def by_class(classes, clauses):
    return {label: [terms for own, terms in clauses if own == label] for label in classes}
