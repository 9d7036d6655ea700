"""Random rule sets as varied as the exports allow, with rows that sit on and beside the thresholds."""

import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
from tests.export.export_cases import AWKWARD, CATEGORIES, NAMES, Case, predicted, raw_column
from tests.rules.random_rules import random_rules

from clausewise import Features, RuleSet
from clausewise.export import DIALECTS
from clausewise.rules.voting import VOTINGS

LETTERS = "aAbZ09 _-.,;:'\"`\\/%$?{}[]()<>&=*+#@!|~^éÉßΣς日𝛀\u0301\u200b\u2028\t\n\r"
MAX_DOUBLE = 1.7976931348623157e308
EXTREMES = (0.0, -0.0, 5e-324, -5e-324, MAX_DOUBLE, -MAX_DOUBLE, 2.0**53, 2.0**53 + 2, math.inf, -math.inf)
BASES = (0.0, 0.1, -1.5, 1e-300, 2.0**52, 2.0**53 - 1, 2.0**53, -(2.0**53), 2.0**53 + 2, 1e300)
CLASS_COUNTS = (1, 2, 2, 3, 3, 4, 20)
RULE_COUNTS = (0, 0, 1, 2, 3, 5, 8, 15, 25)
MANY_RULES = 260  # more than one step of a query adds
QUOTED = {
    "standard": r"""--[^\n]*|/\*.*?\*/|E?'(?:[^']|'')*'|"(?:[^"]|"")*["]""",
    "bigquery": r"--[^\n]*|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`",
}
PADDED = ("a", "a ", "a  ", " ", "", "A")


def wide_case(seed, n_rows=400):
    """Return the rule set and rows of this seed, and the decisions of `predict`."""
    rng = np.random.default_rng(seed)
    features = _features(rng)
    rules = _rules(rng, features)
    rows = wide_rows(rng, rules, n_rows)
    return Case(rules, rows, predicted(rules, rows))


# --- Names ---


def plainly_named_rules(seed):
    """Return varied rules about the features f1, f2 and f3."""
    rng = np.random.default_rng(seed)
    kinds = ("numeric", "binary", "categorical")
    return _rules(rng, Features(("f1", "f2", "f3"), kinds, (None, None, _categories(rng))))


@cache
def emitted_words():
    """Return the words outside quotes of many queries, in lower case, by dialect.

    Names that the query gives to its own steps and columns are left out.
    """
    found = {dialect: set() for dialect in DIALECTS}
    for seed in range(150):
        rules = plainly_named_rules(seed)
        for dialect, words in found.items():
            words.update(word.lower() for word in bare_words(rules.to_sql("some_table", dialect), dialect))
    return {dialect: sorted(words) for dialect, words in found.items()}


def bare_words(query, dialect):
    """Return the words of a query that are neither quoted nor in a comment, without the query's own names."""
    text = re.sub(QUOTED["bigquery" if dialect == "bigquery" else "standard"], " ", query, flags=re.DOTALL)
    return [word for word in re.findall(r"(?<!\w)[A-Za-z_]\w*", text) if not word.startswith("clausewise")]


@cache
def _keywords():
    return tuple(sorted({word for words in emitted_words().values() for word in words}))


def _features(rng):
    n_features = int(rng.integers(1, 7))
    kinds = rng.choice(["numeric", "numeric", "binary", "categorical"], n_features).tolist()
    names, keys = [], set()
    while len(names) < n_features:
        name = _name(rng)
        new = {f"{dialect.name} {dialect.column_key(name)}" for dialect in DIALECTS.values()}
        if name and not new & keys and name not in ("row id", "more", "label", "scores"):
            names.append(name)
            keys |= new
    return Features(names, kinds, [_categories(rng) if kind == "categorical" else None for kind in kinds])


def _name(rng):
    kind = rng.integers(5)
    if kind == 0:
        return NAMES[rng.integers(len(NAMES))]
    if kind == 1:
        word = _keywords()[rng.integers(len(_keywords()))]
        return [word, word.upper(), word.title(), "nan", "column1", "FALSE"][rng.integers(6)]
    if kind == 2:  # long, and shortened by PostgreSQL
        return f"é{rng.integers(100)}" + "ü日x"[rng.integers(3)] * int(rng.integers(20, 70))
    if kind == 3:
        return f"f{rng.integers(20)}"
    return _text(rng)


def _text(rng):
    return "".join(rng.choice(list(LETTERS), int(rng.integers(0, 12))))


# --- Rules ---


def _categories(rng):
    kind = rng.integers(4)
    if kind == 0:
        return tuple(dict.fromkeys(_text(rng) for _ in range(rng.integers(1, 9))))
    if kind == 1:
        return PADDED[: rng.integers(1, 7)]
    if kind == 2:
        numbers = (0, 1, -1, 0.1, 5e-324, 2**53, -(2**53), 1e-300, 2.5, 7)
        return tuple(numbers[i] for i in rng.permutation(len(numbers))[: rng.integers(1, 8)])
    return CATEGORIES[rng.integers(len(CATEGORIES))]


def _labels(rng, n_classes):
    kind = rng.integers(5)
    if kind == 0 and n_classes <= 2:
        return (False, True)[:n_classes]
    if kind == 1:
        return tuple([-(2**63), 2**63 - 1, 0, -1, *range(2, 20)][:n_classes])
    if kind == 2:
        return tuple([0.1, -2.5, 1e300, 5e-324, *np.arange(1, 18) / 7][:n_classes])
    if kind == 3 and n_classes <= len(AWKWARD):
        return tuple(AWKWARD[i] for i in rng.permutation(len(AWKWARD))[:n_classes])
    return tuple(f"class {i}" for i in range(n_classes))


def _rules(rng, features):
    n_classes = int(rng.choice(CLASS_COUNTS))
    n_rules = MANY_RULES if rng.random() < 0.02 else int(rng.choice(RULE_COUNTS))
    rules = random_rules(rng, features, n_rules, n_classes)
    if rng.random() < 0.1:
        rules = [replace(rule, priority=True) for rule in rules]
    classes = [f"class {i}" for i in range(n_classes)]
    base = rng.choice(BASES[: rng.integers(1, len(BASES) + 1)], n_classes) if rng.random() < 0.6 else None
    made = RuleSet.from_rules(
        rules, features, classes=classes, default=str(rng.choice(classes)), base=base,
        voting=str(rng.choice(VOTINGS)),
    )  # fmt: skip
    labels = _labels(rng, n_classes)
    return replace(made, classes=np.array(labels), default=labels[made.default_index])


# --- Rows ---


def wide_rows(rng, rules, n_rows):
    """Return raw rows, many of whose values are thresholds or almost categories."""
    return [list(row) for row in zip(*_columns(rng, rules, n_rows), strict=True)]


def _columns(rng, rules, n_rows):
    features, stored = rules.features, rules.columns
    for position, kind in enumerate(features.kinds):
        column = raw_column(rng, features, position, n_rows)
        if kind == "numeric":
            tested = stored.feature == position
            bounds = {*stored.low[tested].tolist(), *stored.high[tested].tolist(), *EXTREMES}
            # In this order, because the order of a set may differ between runs.
            beside = sorted(
                {math.nextafter(bound, to) for bound in bounds for to in (bound, -math.inf, math.inf)}
            )
            chosen = rng.choice(beside, n_rows).tolist()
            column = [near if rng.random() < 0.4 else value
                      for near, value in zip(chosen, column, strict=True)]  # fmt: skip
        elif kind == "categorical" and isinstance(features.categories[position][0], str):
            column = [_beside(rng, value) if value is not None and rng.random() < 0.2 else value
                      for value in column]  # fmt: skip
        yield column


def _beside(rng, text):
    """Return a text that a careless comparison takes for the given one."""
    changed = (text.upper(), text.lower(), text + " ", " " + text, text.strip(), text[:-1], text + "\u0301")
    return changed[rng.integers(len(changed))]
