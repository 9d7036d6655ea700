"""The browser compares rule sets as `RuleSet.compare` does."""

import numpy as np
import pytest

from clausewise import Features, Rule, RuleSet, Term
from clausewise.io.json import dumps
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw


def assert_same_comparison(page, before, after, X):
    found = page.evaluate("text => window.clausewise.tools.compareWith(text)", dumps(after))
    expected = before.compare(after, X)
    assert tuple(found["added"]) == expected.added
    assert tuple(found["removed"]) == expected.removed
    assert tuple(map(tuple, found["changed"])) == expected.changed
    assert found["nSame"] == expected.n_same
    assert {entry["name"] for entry in found["settings"]} == set(expected.settings)
    assert found["flips"]["rows"] == expected.flips.rows.tolist()
    assert found["flips"]["before"] == expected.flips.before.tolist()
    assert found["flips"]["after"] == expected.flips.after.tolist()


def edited(rng, rules):
    """A few rules removed, moved, changed in votes or class, and added."""
    kept = [rule for rule in rules if rng.random() < 0.7]
    rng.shuffle(kept)
    for place in rng.choice(len(kept), len(kept) // 3, replace=False).tolist():
        old = kept[place]
        conclusion = str(rng.choice(["class 0", old.conclusion]))
        kept[place] = Rule(old.terms, conclusion, 0.123, old.cover, old.correct, old.weight, None, True)
    new = random_ruleset(rng, rules.features, 8)
    return [*kept, *new]


@pytest.mark.parametrize("seed", range(8))
def test_rules_settings_and_flips_are_compared_alike(seed, open_report, tmp_path):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 40)
    other = RuleSet.from_rules(
        edited(rng, rules),
        features,
        classes=rules.classes,
        default=str(rng.choice(rules.labels)),
        voting=str(rng.choice(["confidence", "share"])),
    )
    X = raw(features, random_table(rng, features, 150).encoded())
    rules.report(tmp_path / "report.html", X)
    assert_same_comparison(open_report(tmp_path / "report.html"), rules, other, X)


def test_features_in_another_order_and_other_classes_are_matched_by_name(open_report, tmp_path):
    pandas = pytest.importorskip("pandas")
    jobs = ("cook", "nurse")
    one = Features(("age", "job"), ("numeric", "categorical"), (None, jobs))
    two = Features(("job", "age"), ("categorical", "numeric"), (jobs[::-1], None))
    rules = RuleSet.from_rules(
        [Rule((Term(0, high=4), Term(1, values=["nurse"])), "yes")], one, classes=["no", "yes"], default="no"
    )
    other = RuleSet.from_rules(
        [Rule((Term(0, values=["nurse"]), Term(1, high=4)), "yes"), Rule((Term(1, low=7),), "maybe")],
        two,
        classes=["maybe", "no", "yes"],
        default="no",
    )
    X = pandas.DataFrame({"age": [1.0, 1.0, 5.0, 9.0], "job": ["cook", "nurse", "nurse", "cook"]})
    rules.report(tmp_path / "report.html", X)
    assert_same_comparison(open_report(tmp_path / "report.html"), rules, other, X)
