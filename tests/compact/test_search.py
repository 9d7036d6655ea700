"""Steps of the search for small rule sets, against what they promise."""

import numpy as np
import pytest

from clausewise import CompactionWarning, RuleSet
from clausewise.compact.model import Member, Model, stacked
from clausewise.compact.search import different

N_ROWS = 4000


def member(fires):
    return Member((), np.packbits(fires, bitorder="little").view(np.uint64), None, 2)


@pytest.fixture
def model_and_rules():
    """Return a model of two rules, and two more rules, for a class that depends on all four."""
    rng = np.random.default_rng(0)
    holds = rng.random((4, -(-N_ROWS // 64) * 64)) < 0.4
    holds[:, N_ROWS:] = False
    odds = np.array([1.0, -0.8, 0.5, 0.3]) @ holds[:, :N_ROWS]
    codes = (odds + rng.logistic(size=N_ROWS) > 0.3).astype(np.int32)
    found = Model(codes, 2, np.ones(N_ROWS), penalty=4.0)
    candidates = [member(of_rule) for of_rule in holds]
    found.replace(0, found.fitted(0, candidates[:2], np.zeros(3)))
    return found, candidates[2:]


def test_the_promised_gain_is_by_how_much_the_objective_falls(model_and_rules):
    model, new = model_and_rules
    block = model.blocks[0]
    gradient, curvature = model.derivatives(0)
    gains, starts = model.promised(0, new, gradient, curvature)
    for rule, gain, start in zip(new, gains, starts, strict=True):
        fitted = model.fitted(0, (*block.members, rule), np.zeros(4))
        assert gain == pytest.approx(block.fit.objective - fitted.fit.objective, rel=0.1)
        assert start == pytest.approx(fitted.fit.weights, abs=0.05)


def test_the_importance_of_a_rule_is_by_how_much_the_objective_rises_without_it(model_and_rules):
    model, _ = model_and_rules
    block = model.blocks[0]
    for place, importance in enumerate(block.importance):
        members, start = block.without(place)
        assert members == block.members[:place] + block.members[place + 1 :]
        assert start.tolist() == np.delete(block.fit.weights, place).tolist()
        without = model.fitted(0, members, start)
        assert importance == pytest.approx(without.fit.objective - block.fit.objective, rel=0.15)


def test_without_the_penalty_nothing_is_left_for_copies_of_rules_to_explain(model_and_rules):
    model, new = model_and_rules
    fires = np.unpackbits(model.blocks[0].rows.view(np.uint8), axis=1, count=N_ROWS, bitorder="little")
    gradient, curvature = model.derivatives(0)
    left, same_curvature = model.unexplained(0)
    assert same_curvature.tolist() == curvature.tolist()
    assert (np.abs(fires @ left) < 0.1 * np.abs(fires @ gradient)).all()
    # Other rules would lower the objective about as much as before.
    others = np.unpackbits(stacked(new, N_ROWS).view(np.uint8), axis=1, count=N_ROWS, bitorder="little")
    assert others @ left == pytest.approx(others @ gradient, rel=0.1)


def test_rules_that_fire_on_mostly_the_same_rows_are_repetitions():
    fires = np.zeros((4, 64), dtype=bool)
    fires[0, :40] = True  # the rule that is there already
    fires[1, 4:44] = True  # both on 36 of 44 rows, more than 80 %
    fires[2, 8:40] = True  # both on 32 of 40 rows, just 80 %
    fires[3, 36:] = fires[3, :10] = True
    known, *others = map(member, fires)
    model = Model(np.zeros(64, dtype=np.int32), 2, np.ones(64), penalty=1.0)
    block = model.fitted(0, [known], np.zeros(2))
    assert different(others, block) == others[1:]
    assert different([known], block) == []
    assert different([], block) == []
    assert different(others, model.blocks[0]) == others


def test_a_rule_for_mostly_all_other_rows_is_a_repetition():
    fires = np.zeros((3, 64), dtype=bool)
    fires[0, :40] = True  # the rule that is there already
    fires[1, 36:] = True  # its opposite but for 4 of 40 rows
    fires[2, 30:] = True  # its opposite but for 10 of 40 rows
    known, *others = map(member, fires)
    model = Model(np.zeros(64, dtype=np.int32), 2, np.ones(64), penalty=1.0)
    block = model.fitted(0, [known], np.zeros(2))
    assert different(others, block) == others[1:]
    assert different(others, block, max_opposite_overlap=0.9) == others


def test_no_rules_have_no_bits():
    assert stacked([], 64).shape == (0, 1)
    assert stacked([], 65).shape == (0, 2)


def many_classes(n_classes=120, n_rows=1500):
    """Return rows around a centre per class, of which the first classes have most."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, n_classes + 1)
    codes = np.append(
        np.arange(n_classes), rng.choice(n_classes, n_rows - n_classes, p=shares / shares.sum())
    )
    return rng.normal(size=(n_classes, 5))[codes] * 4 + rng.normal(size=(n_rows, 5)) * 0.3, codes


def test_totals_of_many_classes_are_the_sums_over_all_of_them():
    _, codes = many_classes()
    model = Model(codes.astype(np.int32), 120, np.ones(len(codes)), 1.0)
    for output in (0, 31, 32, 119):
        others = np.log(np.delete(model._powers, output, axis=0).sum(axis=0))
        np.testing.assert_allclose(-model.offset(output), others, rtol=1e-12)
    own = model._powers[codes, np.arange(len(codes))] / model._powers.sum(axis=0)
    expected = [(1 - own)[codes == c].sum() for c in range(120)]
    np.testing.assert_allclose(model.unexpected(), expected, rtol=1e-9)


def test_fewer_rules_than_classes_are_for_those_with_most_rows_and_have_a_warning():
    X, codes = many_classes()
    empty = RuleSet.from_rules([], list("abcde"), default=0, classes=np.arange(120))
    with pytest.warns(CompactionWarning) as caught:
        rules = empty.compact(X, codes, max_rules=5, n_jobs=1)
    assert any(
        "at most 6 of them, those with most to gain. Pass at least 119" in str(w.message) for w in caught
    )
    assert len(rules) <= 5
    # Only so many classes are asked for a rule: those with most rows.
    most = np.argsort(-np.bincount(codes), kind="stable")[:40]
    assert set(rules.columns.class_index.tolist()) <= set(most.tolist())
