"""Guarantees: the promises hold as often as they say, and rows that were learnt from are refused."""

import json
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest

import clausewise
from clausewise import RegressionRule, RegressionRules, Rule, RuleFileError, RuleSet, Term
from clausewise.io import json as rule_json
from clausewise.rules.guarantee import Count, clopper_pearson

RULES = RuleSet.from_rules(
    [
        Rule((Term(0, low=0.5),), "yes", weight=2.0),
        Rule((Term(0, high=0.2),), "no", weight=1.0),
        Rule((Term(1, low=0.9),), "yes", weight=-3.0),
    ],
    ["x", "z"],
    default="no",
    voting="weights",
)


def rows(n, seed):
    return np.random.default_rng(seed).uniform(size=(n, 2))


def network(X):
    """Decide as the rules do, with exceptions, so that every fraction below is known exactly."""
    return np.where(X[:, 0] > 0.55, "yes", "no")


FRESH = rows(2000, 1)


# --- What is counted ---


def test_fidelity_classes_and_rules_are_counted():
    found = RULES.guarantee(FRESH, network)
    asked, decided, x, z = network(FRESH), RULES.predict(FRESH), FRESH[:, 0], FRESH[:, 1]
    assert found.whole == Count(2000, int((asked == decided).sum()))
    assert found.n_baseline == max((asked == "yes").sum(), (asked == "no").sum())
    for label, count in found.of_classes:
        assert count == Count(int((asked == label).sum()), int((decided[asked == label] == label).sum()))
    fires = (x > 0.5, x <= 0.2, z > 0.9)
    # The weight of the last rule is negative: it says that the class is not "yes".
    for count, fired, right in zip(found.of_rules, fires, ("yes", "no", "no"), strict=True):
        assert count == Count(int(fired.sum()), int((asked[fired] == right).sum()))


def test_classes_that_the_rules_do_not_know_count_as_disagreement():
    asked = network(FRESH).astype(object)
    asked[:500] = "maybe"
    found = RULES.guarantee(FRESH, asked)
    assert found.whole.n_agreeing == int((RULES.predict(FRESH) == asked).sum())
    assert [label for label, _ in found.of_classes] == ["no", "yes"]


def test_a_rule_that_never_fires_is_promised_nothing():
    rules = RULES.add("IF x > 7 THEN yes")
    promise = rules.guarantee(FRESH, network).rules[3]
    assert (promise.n_rows, promise.low, promise.high) == (0, 0.0, 1.0)


def test_numbers_agree_within_the_tolerance():
    rules = RegressionRules.from_rules([RegressionRule((Term(0, low=0.5),), 1.0)], ["x", "z"])
    answers = 0.3 * FRESH[:, 1] + (FRESH[:, 0] > 0.5)
    found = rules.guarantee(FRESH, answers, 0.15)
    is_near = FRESH[:, 1] <= 0.5
    assert found.whole == Count(2000, int(is_near.sum()))
    assert found.of_classes == ()
    assert found.of_rules == (Count(int((FRESH[:, 0] > 0.5).sum()), int(is_near[FRESH[:, 0] > 0.5].sum())),)
    assert found.n_baseline == int((np.abs(answers - np.median(answers)) <= 0.15).sum())
    assert "% within 0.15 of the network (" in found.summary
    assert found.rules[0].subject == "fidelity where rule 0 fires"


# --- What is promised ---


def tail(n, k, p):
    """Return the probability of k or more of n, exactly."""
    p = Fraction(p)
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def test_intervals_are_those_of_clopper_and_pearson():
    n_rows, n_agreeing = np.array([20, 20, 20, 7, 0]), np.array([0, 20, 13, 1, 0])
    low, high = clopper_pearson(n_agreeing, n_rows, 0.1)
    assert low[0] == low[4] == 0.0
    assert high[1] == high[4] == 1.0
    for n, k, bottom, top in zip(n_rows.tolist(), n_agreeing.tolist(), low, high, strict=True):
        if k > 0:
            assert float(tail(n, k, bottom)) == pytest.approx(0.05, rel=1e-9)
        if k < n:
            assert float(1 - tail(n, k + 1, top)) == pytest.approx(0.05, rel=1e-9)


def test_the_chance_to_miss_is_divided_among_all_intervals():
    found = RULES.guarantee(FRESH, network, 0.9)
    for family in ([found.fidelity], found.classes, found.rules):
        for promise in family:
            counts = np.array([promise.n_agreeing]), np.array([promise.n_rows])
            low, high = clopper_pearson(*counts, 0.1 / 3 / len(family))
            assert (promise.low, promise.high) == pytest.approx((low[0], high[0]))


def test_rules_above_a_target_are_found_by_holm():
    counts = (Count(100, 97), Count(50, 50), Count(1000, 905), Count(0, 0), Count(100, 0))
    found = replace(RULES.guarantee(FRESH, network, 0.95), of_rules=counts)
    p_values = [float(tail(count.n_rows, count.n_agreeing, Fraction(9, 10))) for count in counts]
    order = np.argsort(p_values)
    expected, left = [], len(counts)
    for rule in order.tolist():
        if p_values[rule] > 0.05 / left:
            break
        expected.append(rule)
        left -= 1
    assert found.rules_with_precision(0.9) == tuple(sorted(expected)) == (0, 1)


def test_a_target_that_is_no_fraction_is_refused():
    with pytest.raises(ValueError, match="target is 90"):
        RULES.guarantee(FRESH, network).rules_with_precision(90)


def simulated_misses(n_repetitions, n_rows, confidence, seed):
    """Count how often any interval misses, and how often Holm names a rule below the target."""
    rng = np.random.default_rng(seed)
    # x is uniform on (0, 1), and rules and network differ on (0.5, 0.55], so that every fraction is known:
    # fidelity, the classes no and yes, and the first two rules; the third never fires here.
    exact = (0.95, 0.5 / 0.55, 1.0, 0.45 / 0.5, 1.0)
    n_missed = n_wrong = 0
    for _ in range(n_repetitions):
        X = rng.uniform(size=(n_rows, 2))
        X[:, 1] *= 0.9
        found = RULES.guarantee(X, network(X), confidence)
        held = (found.fidelity, *found.classes, *found.rules[:2])
        n_missed += not all(one.low <= p <= one.high for one, p in zip(held, exact, strict=True))
        n_wrong += 0 in found.rules_with_precision(0.9 + 1e-9)
    return n_missed / n_repetitions, n_wrong / n_repetitions


def allowed(miss, n_repetitions):
    """Return the nominal rate with four standard deviations of chance."""
    return miss + 4 * np.sqrt(miss * (1 - miss) / n_repetitions)


def test_promises_are_broken_no_more_often_than_they_say():
    missed, wrong = simulated_misses(150, 200, 0.8, seed=0)
    assert missed <= allowed(0.2, 150)
    assert wrong <= allowed(0.2, 150)
    assert missed + wrong > 0  # they are no empty promises


@pytest.mark.fuzz
@pytest.mark.parametrize("n_rows", [40, 300, 2000])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_promises_are_kept_in_thousands_of_repetitions(n_rows, confidence):
    missed, wrong = simulated_misses(3000, n_rows, confidence, seed=n_rows)
    assert missed <= allowed(1 - confidence, 3000)
    assert wrong <= allowed(1 - confidence, 3000)


# --- Which rows are counted ---


LEARNT = rows(400, 2)


def test_rows_that_were_learnt_from_are_refused_with_their_number():
    rules = RULES.remember_rows(LEARNT)
    mixed = np.vstack([FRESH[:100], LEARNT[:7]])
    with pytest.raises(ValueError, match="7 of the 107 rows of X are rows that the rules were learnt from"):
        rules.guarantee(mixed, network)


def test_learnt_rows_can_be_left_out_or_kept():
    rules = RULES.remember_rows(LEARNT)
    mixed = np.vstack([FRESH[:100], LEARNT[:7]])
    dropped, kept = (rules.guarantee(mixed, network, overlap=overlap) for overlap in ("drop", "keep"))
    assert dropped.whole == rules.guarantee(FRESH[:100], network).whole
    assert dropped.notes == ("7 rows that the rules were learnt from were left out.",)
    assert kept.n_rows == 107
    assert "7 of these rows are equal to rows that were learnt from" in kept.notes[0]


def test_a_partial_record_leaves_out_what_it_cannot_look_up(monkeypatch):
    monkeypatch.setattr("clausewise.data.learnt_rows.MAX_ROWS", 50)
    rules = RULES.remember_rows(LEARNT)
    found = rules.guarantee(np.vstack([FRESH, LEARNT]), network, overlap="drop")
    _, could_be = rules.learnt_rows.look_up(rules.features.names, FRESH)
    assert found.n_rows == could_be.sum()
    assert "could not be looked up" in found.notes[0]


def test_rules_without_a_record_say_so():
    assert "no record of the rows" in RULES.guarantee(FRESH, network).notes[0]
    assert RULES.remember_rows(LEARNT).guarantee(FRESH, network).notes == ()


def test_one_row_of_each_group_is_counted():
    groups = np.arange(2000) // 4
    rules = RULES.remember_rows(LEARNT)
    found = rules.guarantee(FRESH, network, groups=groups, random_state=3)
    assert found.n_rows == 500
    assert found == rules.guarantee(FRESH, network, groups=groups.astype(str), random_state=3)
    assert found.whole != rules.guarantee(FRESH, network, groups=groups, random_state=4).whole
    assert "500 groups" in found.notes[0]


def test_a_partial_record_leaves_no_group_with_a_row_that_cannot_be_looked_up(monkeypatch):
    monkeypatch.setattr("clausewise.data.learnt_rows.MAX_ROWS", 200)
    groups = np.arange(2000) // 2
    rules = RULES.remember_rows(FRESH[::4])  # one row of every second group
    found = rules.guarantee(FRESH, network, groups=groups, overlap="drop")
    _, can_be_looked_up = rules.learnt_rows.look_up(rules.features.names, rules.features.encode(FRESH))
    whole = can_be_looked_up.reshape(-1, 2).all(axis=1)
    assert 0 < found.n_rows == whole[1::2].sum() < 500
    with pytest.raises(ValueError, match="if all of its rows can be looked up"):
        rules.guarantee(FRESH, network, groups=np.arange(2000) // 50, overlap="drop")


def test_groups_with_a_learnt_row_are_left_out_as_a_whole():
    groups = np.arange(2000) // 4
    rules = RULES.remember_rows(FRESH[:6])  # all of the first group, and half of the second
    found = rules.guarantee(FRESH, network, groups=groups, overlap="drop")
    assert found.n_rows == 498
    assert "6 rows" in found.notes[0]
    assert "2 other rows of the same 2 groups" in found.notes[1]
    assert rules.guarantee(FRESH, network, groups=groups, overlap="keep").n_rows == 500


@pytest.mark.fuzz
@pytest.mark.parametrize("max_rows", [2**20, 60])  # a record of all learnt rows, and of a half of them
def test_promises_are_kept_for_groups_of_which_some_were_learnt_from(monkeypatch, max_rows):
    monkeypatch.setattr("clausewise.data.learnt_rows.MAX_ROWS", max_rows)
    rng, n_repetitions, confidence, exact = np.random.default_rng(0), 3000, 0.7, 0.9
    n_missed, n_counted = 0, 0
    for seed in range(n_repetitions):
        sizes = rng.integers(1, 4, 300)
        groups = np.repeat(np.arange(300), sizes)
        X = np.repeat(rng.uniform(size=(300, 2)), sizes, axis=0) + rng.normal(0, 1e-3, (len(groups), 2))
        # Of a group that was learnt from, one row is recorded, and all agree. In others, all rows or none do.
        is_learnt_group = rng.uniform(size=300) < 0.35
        agrees = is_learnt_group | (rng.uniform(size=300) < exact)
        decided = RULES.predict(X)
        answers = np.where(agrees[groups], decided, np.where(decided == "yes", "no", "yes"))
        _, first = np.unique(groups, return_index=True)
        rules = RULES.remember_rows(X[first[is_learnt_group]])
        found = rules.guarantee(X, answers, confidence, groups=groups, overlap="drop", random_state=seed)
        n_missed += not found.fidelity.low <= exact <= found.fidelity.high
        n_counted += found.n_rows
    assert n_counted / n_repetitions > 30
    # The fidelity has a third of the chance to miss.
    assert 0 < n_missed / n_repetitions <= allowed((1 - confidence) / 3, n_repetitions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": np.ones(2000)}, "weighted rows have no exact bounds"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\)"),
        ({"confidence": 1.0}, "confidence is 1.0"),
        ({"overlap": "ignore"}, "overlap is 'ignore'"),
    ],
)
def test_what_cannot_be_counted_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RULES.guarantee(FRESH, network, **options)


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="None of the 400 rows is left"):
        RULES.remember_rows(LEARNT).guarantee(LEARNT, network, overlap="drop")


# --- Rules that remember ---


def test_everything_that_learns_from_rows_remembers_them():
    rules = RULES.remember_rows(LEARNT)
    more = rows(300, 5)
    learners = [
        rules.compact(more, network(more), max_rules=2),
        rules.fit_votes(more, network(more)),
        rules.simplify(tolerance=0.1, X=more, target=network(more)),
        rules.with_statistics(more, network(more)),
        rules + RULES.remember_rows(more),
    ]
    for learner in learners:
        for seen in (LEARNT, more):
            with pytest.raises(ValueError, match=f"{len(seen)} of the {len(seen)} rows"):
                learner.guarantee(seen, network)


@pytest.mark.parametrize("fitted", [clausewise.C50Classifier, clausewise.CARTClassifier])
def test_classifiers_remember_their_rows(fitted):
    rules = fitted().fit(LEARNT, network(LEARNT)).rules_
    with pytest.raises(ValueError, match="400 of the 400 rows"):
        rules.guarantee(LEARNT, network)


def test_edits_keep_the_record_and_lose_the_guarantee():
    rules = RULES.remember_rows(LEARNT)
    rules = rules.with_guarantee(rules.guarantee(FRESH, network))
    for edited in (rules.remove(2), rules.reweight(0, weight=3), rules.with_default("yes"), rules[:1]):
        assert edited.learnt_rows == rules.learnt_rows
        assert edited.guaranteed is None
        assert "fresh rows" not in str(edited)
    assert rules.reweight(0, weight=3).reweight(0, weight=2.0).guaranteed is not None
    assert rules.reweight(0, confidence=0.3).guaranteed is not None  # which does not vote


def test_a_guarantee_of_other_rules_is_refused():
    with pytest.raises(ValueError, match="for other rules"):
        RULES.remove(0).with_guarantee(RULES.guarantee(FRESH, network))


# --- Files and displays ---


def test_record_and_guarantee_survive_a_file(tmp_path):
    rules = RULES.remember_rows(LEARNT)
    rules = rules.with_guarantee(rules.guarantee(FRESH, network, groups=np.arange(2000) // 2))
    rules.save(tmp_path / "rules.json")
    again = RuleSet.load(tmp_path / "rules.json")
    assert again.learnt_rows == rules.learnt_rows
    assert again.guaranteed == rules.guaranteed
    forgetful = rules.forget_rows()
    forgetful.save(tmp_path / "rules.json")
    assert RuleSet.load(tmp_path / "rules.json").learnt_rows is None
    assert "learnt_rows" not in (tmp_path / "rules.json").read_text()


def test_rules_for_numbers_keep_both_in_a_file(tmp_path):
    rules = RegressionRules.from_rules(
        [RegressionRule((Term(0, low=0.5),), 1.0)], ["x", "z"], linear={"z": 2.0}
    )
    rules = rules.remember_rows(LEARNT)
    rules = rules.with_guarantee(rules.guarantee(FRESH, FRESH[:, 1], 0.25))
    rules.save(tmp_path / "rules.json")
    again = RegressionRules.load(tmp_path / "rules.json")
    assert (again.learnt_rows, again.guaranteed) == (rules.learnt_rows, rules.guaranteed)


def test_a_guarantee_does_not_outlive_an_edit_of_the_file():
    parsed = json.loads(rule_json.dumps(RULES.with_guarantee(RULES.guarantee(FRESH, network))))
    assert rule_json.loads(json.dumps(parsed)).guaranteed is not None
    parsed["rules"][0]["if"][0]["low"] = 0.4
    assert rule_json.loads(json.dumps(parsed)).guaranteed is None


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("learnt_rows", {"steps": "?"}, "not base64"),
        ("learnt_rows", {"step_bytes": 4, "steps": "AAA="}, "not numbers of 4 bytes"),
        ("learnt_rows", {"skipped_bits": 40, "step_bytes": 1, "steps": "/w=="}, "more than 6 bits"),
        ("guarantee", {"rows": [3, 5]}, "guarantee.rows is not a count"),
        ("guarantee", {"confidence": 1}, "between 0 and 1"),
        ("guarantee", {"digest": "x"}, "64 hexadecimal digits"),
        ("guarantee", {"classes": [[]]}, r"classes\[0\] is empty"),
        ("guarantee", {"baseline": -1}, "expected a whole number of 0 or more"),
    ],
)
def test_damaged_entries_are_refused_with_their_place(key, entry, message):
    rules = RULES.remember_rows(LEARNT)
    parsed = json.loads(rule_json.dumps(rules.with_guarantee(rules.guarantee(FRESH, network))))
    parsed[key] |= entry
    with pytest.raises(RuleFileError, match=message):
        rule_json.loads(json.dumps(parsed))


def test_text_frame_and_html_show_every_promise():
    found = RULES.guarantee(FRESH, network)
    text, page, frame = str(found), found.to_html(), found.to_frame()
    assert len(frame) == 1 + 2 + 3
    assert found.method in text
    for promise in found.promises:
        assert promise.subject in text
        assert promise.subject in page
    assert (frame["low"] <= frame["fraction"]).all()
    assert (frame["fraction"] <= frame["high"]).all()


def test_names_in_html_are_escaped():
    rules = RuleSet.from_rules([Rule((), "<b>")], ["x"], default="<b>")
    assert "<b>" not in rules.guarantee([[1.0]], ["<b>"]).to_html()


def test_exports_say_what_is_guaranteed():
    rules = RULES.with_guarantee(RULES.guarantee(FRESH, network))
    summary = rules.guaranteed.summary
    numbers = RegressionRules.from_rules([RegressionRule((), 1.0)], ["x", "z"])
    numbers = numbers.with_guarantee(numbers.guarantee(FRESH, FRESH[:, 1], 0.25))
    for promised, one in ((summary, rules), (numbers.guaranteed.summary, numbers)):
        texts = [one.to_sql("t"), one.to_python(), one.to_markdown(), one.to_pmml(), one.to_graphviz()]
        assert all(promised in text for text in texts)
        assert promised.replace("%", r"\%") in one.to_latex()
    assert summary in str(rules)
    assert "fresh rows" not in RULES.to_sql("t")
