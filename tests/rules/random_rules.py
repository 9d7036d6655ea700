"""Random tables and rule sets: ties with thresholds, missing, infinite and unknown values are all common."""

from dataclasses import dataclass

import numpy as np

from clausewise import Features, Rule, RuleSet, Term

JOBS = ("cook", "nurse", "pilot", "teacher")
NUMBERS = (-1e30, -2.5, -1.0, -0.1, 0.0, 0.1, 0.30000001192092896, 1.0, 3.0, 1e30)


@dataclass(frozen=True)
class Table:
    """Raw columns (floats, or objects with None) and how to pass them to a rule set."""

    features: Features
    columns: list[np.ndarray]

    def encoded(self, dtype=np.float64, order="C"):
        raw = np.empty((len(self.columns[0]), len(self.columns)), dtype=object)
        for position, column in enumerate(self.columns):
            raw[:, position] = [None if value != value else value for value in column]
        return np.array(self.features.encode(raw), dtype=dtype, order=order)


def random_features(rng, n_features):
    kinds = tuple(rng.choice(["numeric", "numeric", "binary", "categorical"], n_features).tolist())
    kinds = ("numeric", *kinds[1:])
    names = tuple(f"f{i}" for i in range(n_features))
    return Features(names, kinds, tuple(JOBS if kind == "categorical" else None for kind in kinds))


def random_column(rng, kind, n_rows):
    if kind == "categorical":
        column = np.empty(n_rows, dtype=object)
        column[:] = rng.choice([*JOBS, "astronaut", None], n_rows)
        return column
    if kind == "binary":
        return rng.choice([0.0, 1.0, np.nan], n_rows, p=[0.45, 0.45, 0.1])
    # float32 represents these exactly, so one table serves both types.
    exact = np.array([*NUMBERS, np.nan, np.inf, -np.inf], dtype=np.float32).astype(np.float64)
    return np.where(
        rng.random(n_rows) < 0.5, rng.choice(exact, n_rows), rng.normal(size=n_rows).astype(np.float32)
    )


def random_table(rng, features, n_rows):
    return Table(features, [random_column(rng, kind, n_rows) for kind in features.kinds])


def random_term(rng, features, position):
    kind = features.kinds[position]
    if rng.random() < 0.1:
        return Term(position, missing=True)
    if kind == "categorical":
        categories = features.categories[position]
        codes = rng.choice(len(categories), min(rng.integers(0, 5), len(categories)), replace=False)
        return Term(position, values=[categories[code] for code in codes])
    if kind == "binary":
        return Term(position, low=0) if rng.random() < 0.5 else Term(position, high=0)
    low, high = sorted(rng.choice([*NUMBERS, *rng.normal(size=8)], 2).tolist())
    shape = rng.integers(4)
    return Term(position, low=-np.inf if shape in (0, 3) else low, high=np.inf if shape in (1, 3) else high)


def random_rules(rng, features, n_rules, n_classes=3, max_terms=4):
    rules = []
    share_of_priority = rng.choice([0.0, 0.0, 0.1, 0.5])
    for _ in range(n_rules):
        n_terms = rng.integers(0, min(max_terms, len(features)) + 1)
        tested = rng.choice(len(features), n_terms, replace=False)
        covered = int(rng.integers(0, 50))
        rules.append(
            Rule(
                tuple(random_term(rng, features, int(position)) for position in tested),
                f"class {rng.integers(n_classes)}",
                confidence=float(rng.choice([0.0, 0.5, 0.6665, 1.0, rng.random()])),
                cover=covered,
                correct=int(rng.integers(0, covered + 1)),
                weight=float(rng.choice([-1.5, 0.0, 0.1, 0.2, 0.3, rng.normal()])),
                priority=bool(rng.random() < share_of_priority),
            )
        )
    return rules


def random_ruleset(rng, features, n_rules, n_classes=3, **options):
    classes = [f"class {c}" for c in range(n_classes)]
    rules = random_rules(rng, features, n_rules, n_classes)
    base = rng.choice([-1.5, 0.0, 0.1, 0.2], n_classes) if rng.random() < 0.5 else None
    default = str(rng.choice(classes))
    return RuleSet.from_rules(rules, features, classes=classes, default=default, base=base, **options)


def raw(features, matrix):
    """Return an encoded matrix as the table of its raw values; code 4 is an unknown category."""
    table = np.empty(matrix.shape, dtype=object)
    for feature, kind in enumerate(features.kinds):
        for row, code in enumerate(matrix[:, feature]):
            known = features.decode(feature, code)
            table[row, feature] = "astronaut" if kind == "categorical" and code == 4 else known
    return table
