"""Rule sets to export: random ones with rows and the decisions of `predict`, and fixed ones."""

import math
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from tests.rules.random_rules import JOBS, random_column, random_ruleset

from clausewise import Features, Rule, RuleSet, Term
from clausewise.export.text import one_line
from clausewise.rules import Abstention, display
from clausewise.rules.abstention import margins
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
"""Texts that break careless writers of SQL, Python, XML or DOT."""

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
    rows: list[list]  # raw values; None for missing ones
    expected: list


def random_case(seed, voting, n_rows=25):
    rng = np.random.default_rng(seed)
    features = awkward_features(rng)
    rules = relabelled(rng, random_ruleset(rng, features, int(rng.integers(0, 15)), voting=voting))
    columns = [raw_column(rng, features, position, n_rows) for position in range(len(features))]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Case(rules, rows, predicted(rules, rows))


# Half as many examples as elsewhere, because running exports is slow.
half_as_many = settings(max_examples=settings().max_examples // 2)
cases = st.builds(random_case, st.integers(0, 10**6), st.sampled_from(VOTINGS))


def abstaining_case(seed, voting, n_rows=25):
    """Return a random case in which the rules abstain where their margin is below one that occurs."""
    case = random_case(seed, voting, n_rows)
    lead = np.unique(margins(case.rules.scores(as_objects(case.rules, case.rows))))
    margin = float(lead[np.random.default_rng(seed).integers(len(lead))])
    label = "not sure" if isinstance(case.rules.labels[0], str) else -77
    rules = replace(case.rules, abstention=Abstention(margin, label))
    return Case(rules, case.rows, predicted(rules, case.rows))


abstaining_cases = st.builds(abstaining_case, st.integers(0, 10**6), st.sampled_from(VOTINGS))


def predicted(rules, rows):
    return rules.predict(as_objects(rules, rows)).tolist()


def as_objects(rules, rows):
    table = np.empty((len(rows), len(rules.features)), dtype=object)
    for number, row in enumerate(rows):
        table[number] = row
    return table


def awkward_features(rng):
    n_features = int(rng.integers(1, 6))
    kinds = rng.choice(["numeric", "numeric", "binary", "categorical"], n_features).tolist()
    plain = [f"f{i}" for i in range(n_features)]
    names = plain if rng.random() < 0.3 else [NAMES[i] for i in rng.permutation(len(NAMES))[:n_features]]
    categories = [
        CATEGORIES[rng.integers(len(CATEGORIES))] if kind == "categorical" else None for kind in kinds
    ]
    return Features(tuple(names), tuple(kinds), tuple(categories))


def with_nan(rng, features, rows):
    """Return the rows with NaN instead of None in about half of the missing numbers."""
    is_numeric = [kind == "numeric" for kind in features.kinds]
    return [
        [math.nan if numeric and value is None and rng.random() < 0.5 else value
         for value, numeric in zip(row, is_numeric, strict=True)]
        for row in rows
    ]  # fmt: skip


def raw_column(rng, features, position, n_rows):
    categories = features.categories[position]
    if categories is None:
        column = random_column(rng, features.kinds[position], n_rows)
        return [None if value != value else value for value in column.tolist()]
    choices = [*categories, UNKNOWN[type(categories[0])], None]
    return [choices[i] for i in rng.integers(len(choices), size=n_rows)]


def relabelled(rng, rules):
    """Return the same rules with other labels for the three classes."""
    labels = LABELS[rng.integers(len(LABELS))]
    return replace(rules, classes=np.array(labels), default=labels[rules.default_index])


# --- Fixed rule sets ---


def two_rules(name="age", category="nurse", label="yes"):
    """Return two rules with a given feature name, category and class label."""
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


def many_rules(rng, n_rules, voting, decimals=None):
    """Return rules with two terms each, about half of them with priority."""
    low = rng.normal(size=2 * n_rules)
    return RuleSet.from_arrays(
        ["a", "b"],
        ["no", "yes"],
        "no",
        starts=np.arange(n_rules + 1) * 2,
        feature=np.tile([0, 1], n_rules),
        low=low if decimals is None else low.round(decimals),
        high=np.full(2 * n_rules, np.inf),
        class_index=rng.integers(0, 2, n_rules),
        confidence=rng.random(n_rules),
        weight=rng.normal(size=n_rules),
        priority=rng.random(n_rules) < 0.5,
        voting=voting,
    )


MIXED_RULES = RuleSet.from_rules(
    [
        Rule((Term(0, high=47), Term(1, values=["a", "b"])), "yes", confidence=0.93, cover=120, correct=112),
        Rule((Term(0, high=47), Term(2, low=0)), "no", confidence=0.61, cover=50, correct=30),
        Rule((), "no", confidence=0.5, priority=True),
    ],
    Features(("age", "job", "smokes"), ("numeric", "categorical", "binary"), (None, tuple("abcd"), None)),
    default="no",
)
"""Rules over all kinds of features, one of them with priority."""


def shown_rules(rules):
    """Return the terms and the conclusion of each rule, as tables and trees show them."""
    return [
        (
            [
                one_line(term, 10_000)
                for term in display.describe_terms(rules.columns, number, rules.features)
            ],
            one_line(rules.describe_parts(number)[1], 10_000),
        )
        for number in range(len(rules))
    ]
