"""Short texts and files that describe large rule sets.

Each function takes a `random.Random`. What it returns lists many categories, classes or features once, and
refers to them in many rules; work for every pair of both would take minutes or gigabytes.
"""

import json


def _text(rules, n_categories):
    values = ", ".join(f"v{i}" for i in range(n_categories))
    return f"FEATURE x CATEGORICAL {{{values}}}\nCLASSES {{a, b}}\nDEFAULT a\n\n{rules}\n".encode()


# Numbers of categories and of terms that accept all of them but a few.
_SIZES = ((100, 1000), (300, 300), (1000, 4000), (3000, 1000), (10_000, 500), (30_000, 200))


def _term(rng, n_categories):
    values = ", ".join(f"v{rng.randrange(n_categories)}" for _ in range(rng.choice((1, 1, 5))))
    return rng.choice((f"x != v{rng.randrange(n_categories)}", f"x NOT IN {{{values}}}", "x IS KNOWN"))


def text_that_excludes_categories(rng):
    """Return rules that each accept all categories but a few."""
    n_categories, n_terms = rng.choice(_SIZES)
    terms = [_term(rng, n_categories) for _ in range(n_terms)]
    return _text("\n".join(f"IF {term} THEN b" for term in terms), n_categories)


def text_that_excludes_categories_of_one_rule(rng):
    """Return one rule that excludes categories again and again."""
    n_categories, n_terms = rng.choice(_SIZES)
    terms = [_term(rng, n_categories) for _ in range(n_terms)]
    return _text(f"IF {' AND '.join(terms)} THEN b", n_categories)


def text_with_many_categories(rng):
    """Return rules that each accept one of many categories."""
    n_categories = rng.choice((1000, 20_000))
    rules = (f"IF x = v{rng.randrange(n_categories)} THEN b" for _ in range(1000))
    return _text("\n".join(rules), n_categories)


def _file(features, classes, rules):
    head = {"format": "clausewise-rules", "version": 1, "voting": "confidence", "default": classes[0]}
    head |= {"class_dtype": "str", "named": True, "classes": classes, "features": features}
    statistics = {"confidence": 0.5, "cover": 2, "correct": 1, "weight": 1}
    listed = [{"if": terms, "then": label, **statistics} for terms, label in rules]
    return json.dumps(head | {"rules": listed}).encode()


def file_with_many_categories(rng):
    """Return a file of rules that each accept one of many categories."""
    values = [f"v{i}" for i in range(rng.choice((1000, 20_000)))]
    features = [{"name": "x", "kind": "categorical", "categories": values}]
    rules = [([{"feature": "x", "values": [rng.choice(values)]}], "b") for _ in range(1000)]
    return _file(features, ["a", "b"], rules)


def file_with_many_classes(rng):
    """Return a file of rules for many classes."""
    classes = [f"c{i}" for i in range(rng.choice((1000, 20_000)))]
    rules = [([{"feature": "x", "high": rng.random()}], rng.choice(classes)) for _ in range(1000)]
    return _file([{"name": "x", "kind": "numeric"}], classes, rules)


def file_with_many_features(rng):
    """Return a file of rules about many features."""
    names = [f"x{i}" for i in range(rng.choice((100, 5_000)))]
    rules = [([{"feature": name, "low": 1} for name in rng.sample(names, 5)], "b") for _ in range(500)]
    return _file([{"name": name, "kind": "numeric"} for name in names], ["a", "b"], rules)


LARGE = {
    "rule-text": [
        text_that_excludes_categories,
        text_that_excludes_categories_of_one_rule,
        text_with_many_categories,
    ],
    "rule-file": [file_with_many_categories, file_with_many_classes, file_with_many_features],
}
"""Generators by target."""
