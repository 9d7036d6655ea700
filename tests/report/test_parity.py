"""The browser decides every embedded row exactly as Python does, score by score."""

from dataclasses import replace

import numpy as np
import pytest

from clausewise import RuleSet
from clausewise.rules.voting import VOTINGS
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw


def answers(page, voting=None):
    return page.evaluate("voting => window.clausewise.answers(voting ?? undefined)", voting)


def assert_same_answers(page, rules, X):
    for voting in VOTINGS:
        found = answers(page, voting)
        assert np.array_equal(rules.classes[found["decisions"]], rules.predict(X, voting=voting)), voting
        assert np.array_equal(np.array(found["scores"]), rules.scores(X, voting=voting)), voting
    assert np.array_equal(np.array(answers(page)["nFired"]) == 0, rules.uncovered(X))


@pytest.mark.parametrize("seed", range(24))
def test_the_browser_decides_random_rules_as_python_does(seed, open_report, tmp_path):
    rng = np.random.default_rng(seed)
    features = random_features(rng, int(rng.integers(1, 7)))
    rules = random_ruleset(rng, features, int(rng.integers(0, 60)), voting=str(rng.choice(VOTINGS)))
    X = raw(features, random_table(rng, features, int(rng.integers(1, 300))).encoded())
    rules.report(tmp_path / "report.html", X)
    page = open_report(tmp_path / "report.html")
    assert_same_answers(page, rules, X)


@pytest.mark.parametrize("seed", range(6))
def test_rules_with_priority_decide_alone_in_the_browser_too(seed, open_report, tmp_path):
    rng = np.random.default_rng(100 + seed)
    features = random_features(rng, 4)
    drawn = random_ruleset(rng, features, 30, voting=str(rng.choice(VOTINGS)))
    rules = RuleSet.from_rules(
        [replace(rule, priority=place % 4 == 0) for place, rule in enumerate(drawn)],
        features,
        default=drawn.default,
        classes=drawn.classes,
        voting=drawn.voting,
        base=[0.5, -0.25, 0.0],
    )
    X = raw(features, random_table(rng, features, 250).encoded())
    rules.report(tmp_path / "report.html", X)
    page = open_report(tmp_path / "report.html")
    assert_same_answers(page, rules, X)
    found = page.evaluate("() => window.clausewise.rowByRow()")
    assert np.array_equal(np.array(found["scores"]), rules.scores(X))
    # An edit takes the priority of a rule away, and with it the rows that it decided.
    page.evaluate(
        """() => {
        const { store } = window.clausewise;
        const set = store.rules.value;
        store.evaluation.value;
        const rules = set.rules.map((rule, place) => (place === 4 ? { ...rule, priority: false } : rule));
        store.edit({ ...set, rules });
    }"""
    )
    edited = RuleSet.from_rules(
        [replace(rule, priority=rule.priority and place != 4) for place, rule in enumerate(rules)],
        features,
        default=rules.default,
        classes=rules.classes,
        voting=rules.voting,
        base=rules.base,
    )
    shown = page.evaluate("() => Array.from(window.clausewise.store.evaluation.value.decisions)")
    assert np.array_equal(edited.classes[shown], edited.predict(X))


def test_single_precision_tables_are_decided_alike(open_report, tmp_path):
    rng = np.random.default_rng(0)
    features = random_features(rng, 1)
    rules = random_ruleset(rng, features, 40)
    X = rng.normal(size=(500, 1)).astype(np.float32)
    rules.report(tmp_path / "report.html", X)
    assert_same_answers(open_report(tmp_path / "report.html"), rules, X)


def test_rows_that_are_drawn_are_decided_as_the_same_rows_in_python(open_report, tmp_path):
    rng = np.random.default_rng(1)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 30)
    X = raw(features, random_table(rng, features, 900).encoded())
    rules.report(tmp_path / "report.html", X, max_rows=100)
    page = open_report(tmp_path / "report.html")
    drawn = page.evaluate("() => Array.from(window.clausewise.store.table.numbers)")
    assert len(drawn) == 100
    assert answers(page)["decisions"] == [rules.labels.index(c) for c in rules.predict(X[drawn])]


def test_a_row_alone_is_decided_as_in_the_table(open_report, tmp_path):
    rng = np.random.default_rng(2)
    features = random_features(rng, 5)
    rules = random_ruleset(rng, features, 50, voting="weights")
    X = raw(features, random_table(rng, features, 200).encoded())
    rules.report(tmp_path / "report.html", X)
    found = open_report(tmp_path / "report.html").evaluate("() => window.clausewise.rowByRow()")
    assert np.array_equal(np.array(found["scores"]), rules.scores(X))
    assert np.array_equal(rules.classes[found["decisions"]], rules.predict(X))


def test_an_edit_gives_the_answers_of_the_edited_rules_and_undo_those_before(open_report, tmp_path):
    rng = np.random.default_rng(3)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 40, voting="weights")
    X = raw(features, random_table(rng, features, 300).encoded())
    rules.report(tmp_path / "report.html", X)
    page = open_report(tmp_path / "report.html")
    page.evaluate(
        """() => {
        const { store } = window.clausewise;
        const set = store.rules.value;
        store.evaluation.value;
        store.edit({ ...set, rules: set.rules.filter((_, place) => place !== 7) });
        store.evaluation.value;
        const [first, ...others] = store.rules.value.rules;
        store.edit({ ...set, rules: [{ ...first, terms: first.terms.slice(1), weight: 0.7 }, ...others] });
    }"""
    )
    kept = [rule for place, rule in enumerate(rules) if place != 7]
    kept[0] = replace(kept[0], terms=kept[0].terms[1:], weight=0.7)
    edited = RuleSet.from_rules(
        kept, features, default=rules.default, classes=rules.classes, voting="weights", base=rules.base
    )
    shown = page.evaluate("() => Array.from(window.clausewise.store.evaluation.value.decisions)")
    assert np.array_equal(edited.classes[shown], edited.predict(X))
    page.evaluate("() => { window.clausewise.store.undo(); window.clausewise.store.undo(); }")
    shown = page.evaluate("() => Array.from(window.clausewise.store.evaluation.value.decisions)")
    assert np.array_equal(rules.classes[shown], rules.predict(X))
