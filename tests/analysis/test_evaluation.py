"""Evaluations: figures beside their baselines and intervals, and warnings where rules fall short."""

import warnings
from dataclasses import asdict, fields

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

from clausewise import CompactionWarning, ExtractionWarning, Pedagogical, Rule, RuleSet, Term
from clausewise.analysis.shortcomings import shortcomings
from clausewise.rules import metrics

RULES = RuleSet.from_rules(
    [
        Rule((Term(0, high=5), Term(1, low=0)), "a", confidence=0.9),
        Rule((Term(0, high=5), Term(1, high=2)), "b", confidence=0.8),
        Rule((Term(0, high=3),), "b", confidence=0.7),
        Rule((Term(0, low=100),), "b", confidence=0.1),
    ],
    ["x", "y"],
    default="a",
)
X = np.array([[4.0, 3.0], [4.0, 1.0], [4.0, -1.0], [2.0, -1.0], [50.0, 0.0]])
#              rule 0      rules 0, 1  rule 1       rules 1, 2   none
TARGET = ["a", "b", "b", "b", "b"]
NETWORK = ["a", "a", "b", "a", "a"]
OF_NETWORK = {"fidelity", "fidelity_interval", "fidelity_baseline", "kappa"}
OF_TRUTH = {"accuracy", "accuracy_baseline", "balanced_accuracy", "auc", "auc_from_labels"}


def test_an_evaluation_holds_all_measures():
    assert RULES.predict(X).tolist() == ["a", "a", "b", "b", "a"]
    found = RULES.evaluate(X, TARGET, network=NETWORK)
    assert (found.fidelity, found.fidelity_baseline) == (4 / 5, 4 / 5)
    assert found.fidelity_interval == metrics.wilson_interval(4, 5)
    assert found.kappa == metrics.cohen_kappa(RULES.predict(X), NETWORK)
    assert (found.accuracy, found.accuracy_baseline, found.accuracy_of_network) == (3 / 5, 4 / 5, 2 / 5)
    assert found.balanced_accuracy == pytest.approx((1 + 2 / 4) / 2)
    assert found.auc == metrics.auc(RULES.predict_proba(X), TARGET, ["a", "b"])
    assert found.auc_from_labels == metrics.auc_from_labels(RULES.predict(X), TARGET, ["a", "b"])
    assert (found.coverage, found.overlap, found.conflict) == (0.8, 0.4, 0.2)
    assert (found.n_rules, found.n_rows, found.mean_rule_length, found.n_distinct_terms) == (4, 5, 1.5, 5)
    assert found.reading_cost == RULES.reading_cost == 10


def test_fidelity_is_counted_for_each_class_of_the_network():
    found = RULES.evaluate(X, network=[*NETWORK[:-1], "unknown"])
    assert [(one.label, one.n_rows, one.fidelity) for one in found.class_fidelity] == [
        ("a", 3, 2 / 3),
        ("b", 1, 1.0),
        ("unknown", 1, 0.0),
    ]
    expected = binomtest(2, 3).proportion_ci(method="wilson")
    assert found.class_fidelity[0].interval == pytest.approx((expected.low, expected.high))


def test_measures_that_nothing_was_given_for_are_none_and_not_printed():
    for options, unknown, word in (
        ({"network": NETWORK}, OF_TRUTH, "accuracy"),
        ({"target": TARGET}, OF_NETWORK, "fidelity"),
    ):
        found = RULES.evaluate(X, **options)
        missing = {field.name for field in fields(found) if getattr(found, field.name) is None}
        assert missing == unknown | {"accuracy_of_network"}
        assert word not in str(found)
    with pytest.raises(ValueError, match=r"pass target \(true classes\), network"):
        RULES.evaluate(X)


def test_an_evaluation_reads_well():
    lines = str(RULES.evaluate(X, TARGET, network=NETWORK, voting="majority")).splitlines()
    assert lines[:4] == [
        "4 rules on 5 rows, voting majority",
        "  fidelity to the network   80.00 %  (95 % interval 37.55 to 96.38 %)",
        "  majority baseline         80.00 %",
        "  Cohen's kappa              0.5455",
    ]
    assert lines[-1].startswith("Warning: Fidelity is 80.00 %, not clearly above the 80.00 %")


def test_a_model_and_its_labels_give_the_same_evaluation():
    model = LogisticRegression().fit(X, TARGET)
    by_model = RULES.evaluate(X, network=model)
    assert asdict(by_model) == asdict(RULES.evaluate(X, network=model.predict(X)))


def codes(**n_rows):
    return np.repeat(np.arange(len(n_rows)), list(n_rows.values()))


def test_a_frequent_class_that_is_never_predicted_is_named():
    wanted = codes(a=950, b=30, c=10, d=9)  # d has less than 1 % of the rows
    decided = np.where(wanted == 0, 0, 1)
    (sentence,) = shortcomings(decided, wanted, list("abcd"), n_rules=9)
    assert sentence == "The rules never predict class c, which the network gives to 10 of 999 rows."
    (sentence,) = shortcomings(np.where(wanted == 0, 0, 3), wanted, list("abcd"), n_rules=9, is_balanced=True)
    assert sentence == "The rules never predict 2 classes of the network: b (30 rows), c (10 rows)."


def test_advice_is_given_where_it_helps():
    rare, common = codes(a=90, b=10), codes(a=60, b=40)
    balance = "balance='balanced' counts all classes alike"

    def advice(wanted, **options):
        return shortcomings(np.zeros_like(wanted), wanted, list("abcd"), **options)[0].partition("rows. ")[2]

    assert advice(rare, n_rules=3, can_balance=True).startswith(balance)
    assert advice(rare, n_rules=3) == ""
    assert advice(rare, n_rules=3, can_balance=True, is_balanced=True) == ""
    assert advice(common, n_rules=3, can_balance=True) == ""
    few = shortcomings(codes(a=4, b=0), codes(a=1, b=1, c=1, d=1), list("abcd"), n_rules=2, can_balance=True)
    assert few[0].endswith("There are fewer rules than classes; a larger max_rules may help.")


def test_fidelity_is_compared_with_the_interval_of_the_baseline():
    wanted = codes(a=800, b=200)
    high = metrics.wilson_interval(800, 1_000)[1]
    n_needed = int(high * 1_000) + 1

    def sentences(n_right, **options):
        decided = wanted.copy()
        decided[: 1_000 - n_right] = 1
        return shortcomings(decided, wanted, ["a", "b"], n_rules=3, **options)

    assert sentences(n_needed) == ()
    (sentence,) = sentences(n_needed - 1)
    assert sentence.endswith("% (95 % interval 77.41 to 82.36 %) of always predicting a.")
    assert sentences(n_needed - 1, is_balanced=True) == ()
    # With four times the weight, the rare class is as frequent as the other.
    assert sentences(n_needed - 1, weights=np.where(wanted == 1, 4.0, 1.0)) == ()


def test_a_network_that_gives_one_class_says_little():
    (sentence,) = RULES.evaluate(X, network=["a"] * 5).warnings
    assert sentence == "The network gives all rows the class a, so fidelity says little here."


@pytest.fixture(scope="module")
def rare_class():
    """Rows with a class that is more frequent in a corner, but the most frequent nowhere."""
    rng = np.random.default_rng(0)
    rows = rng.random((1_000, 2))
    return rows, np.where((rows[:, 0] < 0.1) & (rng.random(1_000) < 0.35), "rare", "usual")


def test_an_extraction_under_a_budget_warns_where_the_rules_fall_short(rare_class):
    rows, labels = rare_class
    with pytest.warns(ExtractionWarning) as caught:
        model = Pedagogical(labels, max_rules=1, max_terms=1).fit(rows)
    said = tuple(str(warning.message) for warning in caught)
    assert said == model.report_.warnings
    assert any("never predict class rare" in sentence for sentence in said)
    assert any(f"not clearly above the {100 * np.mean(labels == 'usual'):.2f} %" in one for one in said)
    assert "balance" not in "".join(said)  # which this method does not have
    assert str(model.report_).endswith(f"Warning: {said[-1]}")


def test_compact_warns_as_an_extraction_does_and_names_the_parameter_that_helps(rare_class):
    rows, labels = rare_class
    rules = RuleSet.from_rules([], ["x", "y"], default="usual", classes=["rare", "usual"])
    with pytest.warns(CompactionWarning) as caught:
        rules.compact(rows, labels, max_rules=1, max_terms=1, price=0)
    said = [str(warning.message) for warning in caught]
    n_rare = np.sum(labels == "rare")
    never = f"The rules never predict class rare, which the target gives to {n_rare} of 1,000 rows."
    assert said[0].startswith(never)
    assert "balance='balanced'" in said[0]
    assert "not clearly above" in said[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        balanced = rules.compact(rows, labels, max_rules=1, max_terms=1, price=0, balance="balanced")
    assert "rare" in balanced.predict(rows)
