"""Votes that are fitted to all rules of a rule set."""

import sqlite3

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from clausewise import (
    ECLAIRE,
    CompactionWarning,
    DeepRED,
    ExtractionWarning,
    Pedagogical,
    Rule,
    RuleSet,
    Term,
)

NAMES = ["a", "b", "c"]


def problem(n_classes=2, n_rows=1500, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, 3))
    score = X[:, 0] + 0.7 * X[:, 1] ** 2 - 0.5 * X[:, 2] + 0.3 * draw.normal(size=n_rows)
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def random_rules(n_classes=2, n_rules=30, seed=0):
    """Rules for intervals of one or two columns, with statistics counted on the rows."""
    draw = np.random.default_rng(seed)
    X, y = problem(n_classes)
    rules = []
    for _ in range(n_rules):
        columns = draw.permutation(3)[: draw.integers(1, 3)]
        terms = [
            Term(int(c), low=float(low), high=float(low) + 1.2)
            for c, low in zip(columns, draw.normal(size=2), strict=False)
        ]
        rules.append(Rule(terms, int(draw.integers(n_classes))))
    ruleset = RuleSet.from_rules(rules, NAMES, default=0, classes=list(range(n_classes)))
    return ruleset.with_statistics(X, y)


def fired(rules, X):
    return rules.fires(X).dense().T.astype(float)


def agreement(rules, X, y):
    return np.mean(rules.predict(X) == y)


def log_loss(votes, y, weights, penalty):
    largest = votes.max(axis=1)
    total = np.log(np.exp(votes - largest[:, None]).sum(axis=1)) + largest
    return (total - votes[np.arange(len(y)), y]).sum() + penalty / 2 * (weights**2).sum()


@pytest.mark.parametrize("penalty", [0.5, 5.0])
def test_weights_of_two_classes_are_those_of_a_logistic_regression(penalty):
    (X, y), rules = problem(), random_rules()
    fitted = rules.fit_votes(X, y, allow_negative=True, penalty=penalty)
    sign = np.where(rules.columns.class_index == 1, 1.0, -1.0)
    matrix = fired(rules, X) * sign
    expected = LogisticRegression(C=1 / penalty, tol=1e-8, max_iter=1000).fit(matrix, y)
    margin = matrix @ expected.coef_[0] + expected.intercept_[0]
    least = log_loss(np.column_stack([0 * margin, margin]), y, expected.coef_, penalty)
    own = fired(fitted, X) @ (fitted.columns.weight * sign) + fitted.base[1] - fitted.base[0]
    assert log_loss(np.column_stack([0 * own, own]), y, fitted.columns.weight, penalty) < 1.002 * least


def test_weights_of_several_classes_are_those_of_a_softmax():
    (X, y), rules = problem(3), random_rules(3)
    fitted = rules.fit_votes(X, y, per_class=True, penalty=2.0)
    expected = LogisticRegression(C=0.5, tol=1e-8, max_iter=1000).fit(fired(rules, X), y)
    assert np.mean(fitted.predict(X) == expected.predict(fired(rules, X))) > 0.99
    weights = np.zeros((len(rules), 3))
    place = {rule.terms: number for number, rule in enumerate(rules)}
    for rule, weight in zip(fitted, fitted.columns.weight, strict=True):
        weights[place[rule.terms], rule.conclusion] = weight
    # Only differences between the classes count; the penalty is smallest for weights around zero.
    centred = weights - weights.mean(axis=1, keepdims=True)
    votes = fired(rules, X) @ weights + fitted.base
    least = log_loss(expected.decision_function(fired(rules, X)), y, expected.coef_, 2.0)
    assert log_loss(votes, y, centred, 2.0) < 1.005 * least


@pytest.mark.parametrize("n_classes", [2, 4])
def test_all_rules_stay_with_weights_that_are_not_negative(n_classes):
    (X, y), rules = problem(n_classes), random_rules(n_classes)
    fitted = rules.fit_votes(X, y)
    assert [rule.terms for rule in fitted] == [rule.terms for rule in rules]
    assert [rule.conclusion for rule in fitted] == [rule.conclusion for rule in rules]
    assert (fitted.columns.weight >= 0).all()
    assert (fitted.columns.weight == 0).any()
    assert (fitted.columns.weight * 256 == np.round(fitted.columns.weight * 256)).all()
    assert fitted.base.min() == 0
    X_new, y_new = problem(n_classes, seed=1)
    assert agreement(fitted, X_new, y_new) > agreement(rules, X_new, y_new) + 0.02


def test_no_allowed_change_of_a_weight_lowers_the_loss():
    (X, y), rules = problem(), random_rules()
    fitted = rules.fit_votes(X, y, penalty=3.0)
    matrix = fired(rules, X) * np.where(rules.columns.class_index == 1, 1.0, -1.0)
    weights = fitted.columns.weight
    margin = matrix @ weights + fitted.base[1] - fitted.base[0]
    slope = matrix.T @ (1 / (1 + np.exp(-margin)) - y) + 3.0 * weights
    assert slope[weights > 0] == pytest.approx(0, abs=1.5)
    assert (slope[weights == 0] > -1.5).all()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_each_premise_may_have_a_weight_for_every_class(n_classes):
    (X, y), rules = problem(n_classes), random_rules(n_classes)
    fitted = rules.fit_votes(X, y, per_class=True)
    assert {rule.terms for rule in fitted} == {rule.terms for rule in rules}
    assert (fitted.columns.weight >= 0).all()
    counted = fitted.with_statistics(X, y)
    np.testing.assert_allclose(fitted.columns.cover, counted.columns.cover)
    np.testing.assert_allclose(fitted.columns.correct, counted.columns.correct)
    one_each = rules.fit_votes(X, y)
    X_new, y_new = problem(n_classes, seed=1)
    assert agreement(fitted, X_new, y_new) >= agreement(one_each, X_new, y_new) - 0.005


def test_confidences_are_kept_where_they_are_better():
    # One rule says it all; the others are noise to which weights without a penalty are fitted by heart.
    draw = np.random.default_rng(1)
    X = draw.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    noise = [
        Rule([Term(1, low=low), Term(2, high=-low)], int(draw.integers(2))) for low in draw.normal(size=40)
    ]
    rules = RuleSet.from_rules(noise, NAMES, default=0, classes=[0, 1]).with_statistics(X, y)
    exact = [Rule([Term(0, low=0.0)], 1, confidence=1.0, cover=30, correct=30)] * 30
    rules = RuleSet.from_rules([*exact, *rules], NAMES, default=0, classes=[0, 1])
    before = rules.predict(X)
    with pytest.warns(CompactionWarning, match=r"confidences on .*; the rules vote by confidence"):
        kept = rules.fit_votes(X, y, penalty=1e6)
    assert kept.voting == "confidence"
    assert (kept.predict(X) == before).all()


def test_a_network_may_be_the_target_and_calibrates_the_probabilities():
    X, y = problem()
    network = MLPClassifier((8,), max_iter=800, random_state=0).fit(X, y)
    rules = random_rules()
    by_network, by_labels = rules.fit_votes(X, network), rules.fit_votes(X, network.predict(X))
    assert by_network.columns.weight.tolist() == by_labels.columns.weight.tolist()
    entropy = [
        -(network.predict_proba(X) * np.log(fitted.predict_proba(X))).sum()
        for fitted in (by_network, by_labels)
    ]
    assert by_network.scale != 1
    assert entropy[0] < entropy[1]


def test_rows_without_weight_do_not_count():
    (X, y), rules = problem(), random_rules()
    weights = np.where(np.arange(len(y)) < 700, 1.0, 0.0)
    some = rules.fit_votes(X, np.where(weights > 0, y, 1 - y), sample_weight=weights)
    assert some.columns.weight.tolist() == rules.fit_votes(X[:700], y[:700]).columns.weight.tolist()


@pytest.mark.parametrize("per_class", [False, True])
def test_exports_decide_as_the_rules_do(per_class):
    (X, y), rules = problem(3), random_rules(3)
    fitted = rules.fit_votes(X, y, per_class=per_class)
    X_new = np.random.default_rng(5).normal(scale=1.5, size=(500, 3))
    decided = fitted.predict(X_new)
    space: dict = {}
    exec(fitted.to_python(), space)
    assert [
        space["predict"](dict(zip(NAMES, row, strict=True))) for row in X_new.tolist()
    ] == decided.tolist()
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE rows (a REAL, b REAL, c REAL)")
        database.executemany("INSERT INTO rows VALUES (?, ?, ?)", X_new.tolist())
        found = database.execute(fitted.to_sql(table="rows", dialect="sqlite")).fetchall()
    assert [row[-1] for row in found] == decided.tolist()


def test_rules_with_priority_and_bad_options_are_refused():
    (X, y), rules = problem(), random_rules()
    with pytest.raises(ValueError, match="penalty"):
        rules.fit_votes(X, y, penalty=0)
    with pytest.raises(ValueError, match="have priority"):
        rules.add("IF a > 1 THEN 1", priority=True).fit_votes(X, y)


def test_an_empty_rule_set_and_one_class_change_nothing():
    X, y = problem()
    empty = RuleSet.from_rules([], NAMES, default=0, classes=[0, 1])
    assert empty.fit_votes(X, y) == empty
    rules = random_rules()
    assert rules.fit_votes(X, np.zeros(len(y), dtype=int)) == rules


# --- Extractors ---


def exclusive_or(seed=0, n_rows=600):
    X = np.random.default_rng(seed).random((n_rows, 4))
    return X, np.round(X[:, 0]) != np.round(X[:, 1])


@pytest.fixture(scope="module")
def network():
    X, y = exclusive_or()
    return MLPClassifier((24, 12), max_iter=600, learning_rate_init=0.01, random_state=1).fit(X, y)


def test_fitted_votes_make_all_rules_of_eclaire_more_faithful(network):
    X, X_new = exclusive_or()[0], exclusive_or(seed=1)[0]
    by_confidence, fitted = (
        ECLAIRE(network, min_cases=4, max_rules=None, voting=voting).fit(X)
        for voting in ("confidence", "fitted")
    )
    assert len(fitted.rules_) == len(by_confidence.rules_)
    assert fitted.rules_.voting == "weights"
    assert fitted.fidelity(X_new) > by_confidence.fidelity(X_new)
    assert "votes" in str(fitted.report_)


@pytest.mark.filterwarnings("ignore:No rule predicts class")
@pytest.mark.parametrize("extractor", [DeepRED, Pedagogical])
def test_other_methods_fit_their_votes_too(extractor, network):
    X = exclusive_or()[0]
    fitted = extractor(network, max_rules=None, voting="fitted").fit(X)
    plain = extractor(network, max_rules=None).fit(X)
    assert [rule.terms for rule in fitted.rules_] == [rule.terms for rule in plain.rules_]
    assert fitted.fidelity(X) >= plain.fidelity(X) - 0.02


def test_min_cases_is_chosen_by_the_votes_that_are_used(network):
    X = exclusive_or()[0]
    by_confidence, fitted = (
        ECLAIRE(network, max_rules=None, voting=voting).fit(X) for voting in ("confidence", "fitted")
    )
    paths = [[point.fidelity for point in model.report_.path] for model in (by_confidence, fitted)]
    assert paths[0] != paths[1]


def test_short_rule_sets_have_fitted_weights_anyway(network):
    with pytest.warns(ExtractionWarning, match="voting='fitted' has no effect"):
        ECLAIRE(network, max_rules=4, voting="fitted").fit(exclusive_or()[0])
