"""The browser finds the same smallest changes and near misses as Python does with the report's rows."""

import numpy as np
import pytest

from clausewise import Features
from clausewise.rules.voting import VOTINGS
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw


def encoded(features, changes):
    values = {}
    for change in changes:
        feature = features.index(change.feature)
        listed = features.categories[feature]
        values[feature] = float(change.after) if listed is None else float(listed.index(change.after))
    return values


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("max_features", [1, 2])
def test_the_smallest_changes_are_those_of_python(seed, max_features, open_report, tmp_path):
    rng = np.random.default_rng(seed)
    features = random_features(rng, int(rng.integers(1, 6)))
    rules = random_ruleset(rng, features, int(rng.integers(1, 30)), voting=VOTINGS[seed % 4])
    X = raw(features, random_table(rng, features, 40).encoded())
    to = None if seed % 3 else rules.labels[seed % 2]
    expected = rules.counterfactuals(X, max_features=max_features, to=to, reference=X)
    rules.report(tmp_path / "report.html", X)
    page = open_report(tmp_path / "report.html")
    found = page.evaluate(
        "([most, to]) => window.clausewise.tools.smallestChanges(most, to)",
        [max_features, None if to is None else rules.labels.index(to)],
    )
    for one, python in zip(found, expected, strict=True):
        assert (one is not None) == python.is_found
        if one is not None:
            assert dict(one["changes"]) == encoded(features, python.changes)
            assert rules.labels[one["becomes"]] == python.becomes
            assert one["distance"] == python.distance


def test_the_smallest_changes_of_many_rules_are_those_of_python(open_report, tmp_path):
    rng = np.random.default_rng(7)
    features = Features(("a", "b", "c", "d"))
    rules = random_ruleset(rng, features, 200, voting="weights")
    X = rng.normal(size=(40, 4))
    expected = rules.counterfactuals(X, reference=X)
    assert {len(one.changes) for one in expected} == {1, 2}
    rules.report(tmp_path / "report.html", X)
    found = open_report(tmp_path / "report.html").evaluate("window.clausewise.tools.smallestChanges(2, null)")
    for one, python in zip(found, expected, strict=True):
        assert dict(one["changes"]) == encoded(features, python.changes)
        assert one["distance"] == python.distance


def test_whole_numbers_stay_whole(open_report, tmp_path):
    rng = np.random.default_rng(6)
    features = random_features(rng, 1)
    rules = random_ruleset(rng, features, 12)
    X = rng.integers(-3, 4, size=(60, 1)).astype(float)
    expected = rules.counterfactuals(X, reference=X)
    assert any(one.changes for one in expected)
    rules.report(tmp_path / "report.html", X)
    found = open_report(tmp_path / "report.html").evaluate("window.clausewise.tools.smallestChanges(2, null)")
    for one, python in zip(found, expected, strict=True):
        assert (None if one is None else dict(one["changes"])) == (
            encoded(features, python.changes) if python.is_found else None
        )


@pytest.mark.parametrize("seed", range(4))
def test_near_misses_are_those_of_python(seed, open_report, tmp_path):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 40)
    X = raw(features, random_table(rng, features, 50).encoded())
    rules.report(tmp_path / "report.html", X)
    found = open_report(tmp_path / "report.html").evaluate("window.clausewise.tools.nearMisses()")
    assert found == [[miss.number for miss in one.near_misses] for one in rules.explain(X)]
