"""Abstaining rules: the promise is kept as often as it says, and everything abstains on the same rows."""

import json
from dataclasses import replace
from importlib import import_module

import jsonschema
import numpy as np
import pytest

from clausewise import Rule, RuleFileError, RuleSet, Term
from clausewise.io import json as rule_json
from clausewise.rules import Abstention

RULES = RuleSet.from_rules(
    [Rule((Term(0, low=0.1 * i),), "yes", weight=1.0) for i in range(10)],
    ["x"],
    default="no",
    classes=["no", "yes"],
    voting="weights",
    base=[5.5, 0.0],
)
"""The margin of a row is 0.5, 1.5, … by its distance from 0.5."""


def rows(n, seed):
    return np.random.default_rng(seed).uniform(size=(n, 1))


def network(X):
    """Differ from the rules where x is between 0.45 and 0.5."""
    return np.where(X[:, 0] > 0.45, "yes", "no")


FRESH = rows(3000, 1)


def careful(**options):
    return RULES.abstaining(FRESH, network, 0.99, **options)


def test_rows_with_a_small_margin_are_not_decided():
    rules = careful()
    scores = RULES.scores(FRESH)
    lead = np.abs(scores[:, 0] - scores[:, 1])
    predicted = rules.predict(FRESH)
    assert 0.5 < rules.abstention.margin <= 1.5
    np.testing.assert_array_equal(predicted == "abstains", lead < rules.abstention.margin)
    np.testing.assert_array_equal(predicted[lead >= 1.5], RULES.predict(FRESH)[lead >= 1.5])


def test_the_promise_says_what_was_counted():
    rules = careful()
    promise = rules.promised
    assert (promise.agreement, promise.confidence, promise.n_rows) == (0.99, 0.9, 2700)
    assert promise.decided.n_agreeing == promise.decided.n_rows
    assert 0.78 < promise.fraction_decided < 0.82  # all but (0.4, 0.6]
    assert promise.summary in str(rules)
    assert "abstains below a margin of" in repr(rules)


def test_rules_that_keep_the_promise_everywhere_decide_everything():
    rules = RULES.abstaining(FRESH, RULES.predict(FRESH), 0.99)
    assert rules.abstention.margin == 0
    assert rules.promised.fraction_decided == 1
    np.testing.assert_array_equal(rules.predict(FRESH), RULES.predict(FRESH))


def test_the_rows_that_chose_the_margin_are_no_longer_fresh():
    with pytest.raises(ValueError, match="3,000 of the 3,000 rows"):
        careful().guarantee(FRESH, network)
    assert RULES.guarantee(FRESH, network).n_rows == 3000  # of the rules that always decide


def test_a_promise_that_cannot_be_kept_is_refused():
    with pytest.raises(ValueError, match="At no margin"):
        RULES.abstaining(FRESH, np.where(rows(3000, 7)[:, 0] > 0.5, "yes", "no"), 0.9)


def test_learnt_rows_are_refused():
    with pytest.raises(ValueError, match="5 of the 3,000 rows"):
        RULES.remember_rows(FRESH[:5]).abstaining(FRESH, network)


@pytest.mark.parametrize(
    ("classes", "label", "message"),
    [
        (["no", "yes"], "yes", "is a class"),
        (["no", "yes"], 3, "of their type"),
        ([0, 1], "abstains", "of their type"),
        ([False, True], None, "true and false"),
    ],
)
def test_a_label_that_does_not_fit_is_refused(classes, label, message):
    rule = Rule((Term(0, low=0.5),), classes[1])
    rules = RuleSet.from_rules([rule], ["x"], default=classes[0], classes=classes)
    with pytest.raises(ValueError, match=message):
        rules.abstaining(FRESH, rules.predict(FRESH), label=label)


@pytest.mark.parametrize(("dtype", "usual"), [("int8", -1), ("uint8", -1), ("int64", -1), ("float64", -1.0)])
def test_numbers_abstain_with_minus_one(dtype, usual):
    classes = np.array([0, 1], dtype=dtype)
    rules = RuleSet.from_rules([Rule((Term(0, low=0.5),), 1)], ["x"], default=0, classes=classes)
    asked = (FRESH[:, 0] > 0.5) | (FRESH[:, 0] < 0.05)  # the default class has no votes, and no margin
    made = rules.abstaining(FRESH, asked.astype(dtype), 0.99)
    predicted = made.predict([[0.2], [0.8]])
    assert predicted.tolist() == [usual, 1]
    assert predicted.dtype.kind == ("f" if dtype == "float64" else "i")


# --- The promise in repetitions ---


def broken_promises(n_repetitions, n_rows, agreement, confidence, seed):
    """Return how often the agreement of the rows that are decided is, in truth, below the one promised."""
    rng = np.random.default_rng(seed)
    # The chance that the network differs falls with the margin, from 0.3 to 0.
    population = (np.arange(2000)[:, None] + 0.5) / 2000
    chance = 0.3 * (1 - 2 * np.abs(population[:, 0] - 0.5))
    n_broken = n_kept = 0
    for _ in range(n_repetitions):
        X = rng.uniform(size=(n_rows, 1))
        flips = rng.uniform(size=n_rows) < 0.3 * (1 - 2 * np.abs(X[:, 0] - 0.5))
        decided = RULES.predict(X)
        asked = np.where(flips, np.where(decided == "yes", "no", "yes"), decided)
        try:
            found = RULES.abstaining(X, asked, agreement, confidence)
        except ValueError:
            continue
        n_kept += 1
        is_decided = found.predict(population) != "abstains"
        n_broken += 1 - chance[is_decided].mean() < agreement
    return n_broken / n_repetitions, n_kept


def allowed(miss, n_repetitions):
    return miss + 4 * np.sqrt(miss * (1 - miss) / n_repetitions)


def test_promises_are_broken_no_more_often_than_they_say():
    broken, n_kept = broken_promises(60, 400, 0.9, 0.8, seed=0)
    assert n_kept > 20
    assert broken <= allowed(0.2, 60)


@pytest.mark.fuzz
@pytest.mark.parametrize(("n_rows", "agreement", "confidence"), [(150, 0.85, 0.8), (1000, 0.92, 0.9)])
def test_promises_are_kept_in_thousands_of_repetitions(n_rows, agreement, confidence):
    broken, n_kept = broken_promises(2000, n_rows, agreement, confidence, seed=1)
    assert n_kept > 500
    assert broken <= allowed(1 - confidence, 2000)


def test_tested_margins_come_from_other_rows(monkeypatch):
    seen = []
    module = import_module("clausewise.analysis.abstaining")
    original = module._candidates
    monkeypatch.setattr(module, "_candidates", lambda lead: seen.append(len(lead)) or original(lead))
    careful()
    assert seen == [300]


# --- What abstaining rules can and cannot do ---


def test_edits_keep_the_margin_and_lose_the_promise():
    rules = careful()
    edited = rules.remove(0)
    assert edited.abstention.margin == rules.abstention.margin
    assert edited.promised is None
    assert rules.always_deciding() == RULES
    assert rules != RULES


def test_explanations_and_measures_know_of_abstention():
    rules = careful()
    explained = rules.explain([[0.52], [0.95]])
    assert explained[0].prediction == "abstains"
    assert explained[0].leading == "yes" == RULES.predict([[0.52]])[0]
    assert explained[1].prediction == explained[1].leading == "yes"
    found = rules.evaluate(FRESH, network(FRESH), network=network)
    is_decided = rules.predict(FRESH) != "abstains"
    assert found.decided == is_decided.mean()
    assert found.fidelity == found.accuracy == 1.0
    assert "decided by the rules" in str(found)
    other = rows(1000, 9)
    assert rules.guarantee(other, network).n_abstained == (rules.predict(other) == "abstains").sum()
    assert rules.compare(RULES, FRESH).flips is not None


def test_what_cannot_abstain_says_so():
    rules = careful()
    for refused in (
        rules.to_pmml,
        rules.to_onnx,
        rules.to_text,
        rules.scorecard,
        rules.simplify,
        lambda: rules.with_voting("majority"),
        lambda: rules.predict(FRESH, voting="majority"),
        lambda: rules.explain(FRESH, voting="majority"),
        lambda: rules.counterfactuals(FRESH[:1]),
        lambda: rules.with_weights(np.ones(10)),
    ):
        with pytest.raises(ValueError, match=r"abstain.*always_deciding\(\)"):
            refused()


# --- Files ---


def test_abstention_survives_a_file_and_satisfies_the_schema(tmp_path):
    rules = careful(label="unsure")
    rules.save(tmp_path / "rules.json")
    again = RuleSet.load(tmp_path / "rules.json")
    assert again == rules
    assert again.abstention == rules.abstention
    assert again.promised == rules.promised
    jsonschema.Draft202012Validator(rule_json.schema()).validate(json.loads(rule_json.dumps(rules)))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"margin": -1}, "expected a finite number of 0 or more"),
        ({"label": "yes"}, "is a class"),
        ({"label": 3}, "of their type"),
        ({"promise": {}}, 'no "agreement"'),
    ],
)
def test_a_damaged_abstention_is_refused(entry, message):
    parsed = json.loads(rule_json.dumps(replace(RULES, abstention=Abstention(1.0, "unsure"))))
    parsed["abstention"] |= entry
    with pytest.raises(RuleFileError, match=message):
        rule_json.loads(json.dumps(parsed))


def test_rows_too_few_for_the_promise_are_not_blamed_on_the_rules():
    X = np.full((20, 1), 0.95)
    with pytest.raises(ValueError, match=r"rows are too few .* although they reach 1\.000, on 18 of 18"):
        RULES.abstaining(X, np.full(20, RULES.predict(X)[0]), agreement=0.999)
