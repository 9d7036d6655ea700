"""Algorithm 1 of the paper, word for word: plain loops, one fit per premise, nothing shared."""

import numpy as np

from clausewise import Features, Origin, Rule, RuleSet
from clausewise.induction import PreparedMatrix
from clausewise.rules.rule import ANYTHING


def eclaire(
    network, X, features, inducer, *, layer_inducer=None, weights=None, balance=False, eclectic=False
):
    """The rule set that ECLAIRE must give."""
    classes = network.classes.tolist()
    table = features.encode(X)
    labels = network.labels(X).tolist()
    codes = np.array([classes.index(label) for label in labels], dtype=np.int32)
    found = {}
    if eclectic:
        for rule in rules_of(
            layer_inducer or inducer, PreparedMatrix.prepare(X, features=features), codes, classes, weights
        ):
            found.setdefault((rule.terms, rule.conclusion), Origin("inputs"))
    for layer in network.hidden_layers(X):
        units = PreparedMatrix.prepare(layer.matrix, features=Features(layer.unit_names))
        for r in rules_of(layer_inducer or inducer, units, codes, classes, weights):
            p = [r.holds(row) for row in layer.matrix.tolist()]
            row_weights = premise_weights(p, weights, balance)
            target = np.array([0 if holds else 1 for holds in p], dtype=np.int32)
            inputs = PreparedMatrix.prepare(X, features=features)
            for c in rules_of(inducer, inputs, target, (True, False), row_weights):
                if c.conclusion is True:
                    clause = " AND ".join(map(str, r.terms)) or ANYTHING
                    found.setdefault((c.terms, r.conclusion), Origin(layer.name, clause))
    rules = [
        counted(terms, label, origin, table, features, labels, weights)
        for (terms, label), origin in found.items()
    ]
    uncovered = [i for i in range(len(table)) if not any(fires(r.terms, table[i], features) for r in rules)]
    default = most_frequent(uncovered or range(len(table)), labels, classes, weights)
    return RuleSet.from_rules(rules, features, default=default, classes=network.classes)


def rules_of(inducer, matrix, codes, classes, weights):
    """The rules or, if there are none, one without terms for the default class."""
    found = inducer.induce(matrix, codes, classes, weights=weights)
    return list(found) or [Rule((), found.default)]


def premise_weights(holds, weights, balance):
    """Case weights, such that rows of both kinds weigh the same if `balance`."""
    if not balance:
        return weights
    plain = [1.0] * len(holds) if weights is None else list(weights)
    true = sum(w for w, h in zip(plain, holds, strict=True) if h)
    false = sum(w for w, h in zip(plain, holds, strict=True) if not h)
    factor = false / true if true > 0 and false > 0 else 1.0
    return np.array([w * (factor if h else 1.0) for w, h in zip(plain, holds, strict=True)])


def fires(terms, row, features):
    """Whether all terms hold on an encoded row."""
    return all(term.holds(features.decode(term.feature, row[term.feature])) for term in terms)


def counted(terms, label, origin, table, features, labels, weights):
    """A rule with its counts on the rows, against the network's labels."""
    plain = [1.0] * len(labels) if weights is None else list(weights)
    cover = correct = 0.0
    for row, own, weight in zip(table, labels, plain, strict=True):
        if fires(terms, row, features):
            cover += weight
            correct += weight * (own == label)
    return Rule(terms, label, (correct + 1) / (cover + 2), cover, correct, origin=origin)


def most_frequent(rows, labels, classes, weights):
    """The class of most of these rows, the first of several."""
    votes = [sum(1.0 if weights is None else weights[i] for i in rows if labels[i] == c) for c in classes]
    return classes[votes.index(max(votes))]
