"""Steps of the search for small rule sets, against what they promise."""

import numpy as np
import pytest

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
