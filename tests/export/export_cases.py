"""Random rule sets with rows and what `predict` says of them; awkward names, categories, labels included."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from tests.rules.random_rules import JOBS, random_column, random_ruleset

from clausewise import Features, RuleSet
from clausewise.rules.voting import VOTINGS

AWKWARD = (
    'say "hi"',
    "it's",
    "two\nlines",
    "two  spaces",
    " padded ",
    "naïve ≤ 47 ∈ 𝛀",
    "</script><b>&amp;",
    "back\\slash\\n",
    "tick`tick",
    "a=b; DROP TABLE t; --",
    "{x} %s $1 :y ?",
    "]]>",
    "tab\there",
    "'''\"\"\"",
)
"""Texts that a careless writer of SQL, Python, XML or DOT would trip over."""

NAMES = (*AWKWARD, "t", "x1", "votes", "values", "lambda", "decision", "clausewise_votes_0", "X", "select")

CATEGORIES = (JOBS, AWKWARD[:6], AWKWARD[6:], (0, 1, 2.5, -3, 0.1), (False, True), ("only one",))
UNKNOWN = {str: "astronaut", int: 99, float: 99, bool: None}

LABELS = (
    ("class 0", "class 1", "class 2"),
    AWKWARD[:3],
    AWKWARD[6:9],
    (-5, 0, 2**53 + 1),
    (0.1, -2.5, 1e30),
)


@dataclass(frozen=True)
class Case:
    rules: RuleSet
    rows: list[list]  # raw values; None is missing
    expected: list


def random_case(seed, voting, n_rows=25):
    rng = np.random.default_rng(seed)
    features = awkward_features(rng)
    rules = relabelled(rng, random_ruleset(rng, features, int(rng.integers(0, 15)), voting=voting))
    columns = [raw_column(rng, features, position, n_rows) for position in range(len(features))]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Case(rules, rows, predicted(rules, rows))


# Executing takes longer than asking, so half as many examples as elsewhere; far more in `make fuzz`.
half_as_many = settings(max_examples=settings().max_examples // 2)
cases = st.builds(random_case, st.integers(0, 10**6), st.sampled_from(VOTINGS))


def predicted(rules, rows):
    table = np.empty((len(rows), len(rules.features)), dtype=object)
    for number, row in enumerate(rows):
        table[number] = row
    return rules.predict(table).tolist()


def awkward_features(rng):
    n_features = int(rng.integers(1, 6))
    kinds = rng.choice(["numeric", "numeric", "binary", "categorical"], n_features).tolist()
    plain = [f"f{i}" for i in range(n_features)]
    names = plain if rng.random() < 0.3 else [NAMES[i] for i in rng.permutation(len(NAMES))[:n_features]]
    categories = [
        CATEGORIES[rng.integers(len(CATEGORIES))] if kind == "categorical" else None for kind in kinds
    ]
    return Features(tuple(names), tuple(kinds), tuple(categories))


def raw_column(rng, features, position, n_rows):
    categories = features.categories[position]
    if categories is None:
        column = random_column(rng, features.kinds[position], n_rows)
        return [None if value != value else value for value in column.tolist()]
    choices = [*categories, UNKNOWN[type(categories[0])], None]
    return [choices[i] for i in rng.integers(len(choices), size=n_rows)]


def relabelled(rng, rules):
    """The same rules with other labels for the three classes."""
    labels = LABELS[rng.integers(len(LABELS))]
    return replace(rules, classes=np.array(labels), default=labels[rules.default_index])


def two_rules(name="age", category="nurse", label="yes"):
    """A small rule set with one text from outside in each place where there can be one."""
    from clausewise import Rule, Term

    features = Features((name, "job"), ("numeric", "categorical"), (None, (category, "cook")))
    return RuleSet.from_rules(
        [
            Rule((Term(0, high=47.5), Term(1, values=[category])), label, confidence=0.9),
            Rule((Term(0, low=47.5),), "no", confidence=0.6),
        ],
        features,
        default="no",
        classes=["no", label],
    )
