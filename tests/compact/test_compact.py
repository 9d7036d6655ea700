"""Small weighted rule sets, as users get them."""

import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from clausewise import CompactionWarning, Features, Origin, Rule, RuleSet, Term
from clausewise.base.progress import Progress
from clausewise.compact import search
from clausewise.rules.rule import RESIDUAL


def no_rules(n_features=4, classes=("no", "yes"), features=None):
    features = [f"x{i}" for i in range(n_features)] if features is None else features
    return RuleSet.from_rules([], features, default=classes[0], classes=list(classes))


def xor_rows(n_rows=1500, seed=0):
    X = np.random.default_rng(seed).random((n_rows, 4))
    return X, np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), "yes", "no")


def curved_rows(n_rows=3000, seed=0, n_classes=2):
    X = np.random.default_rng(seed).normal(size=(n_rows, 4))
    score = X[:, 0] ** 2 + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2]
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.array(["a", "b", "c", "d"])[np.searchsorted(cuts, score)]


def agreement(rules, X, target):
    return np.mean(rules.predict(X) == target)


def test_two_rules_express_exclusive_or():
    X, target = xor_rows()
    rules = no_rules().compact(X, target, max_rules=2)
    assert len(rules) == 2
    assert rules.voting == "weights"
    assert {term.feature for rule in rules for term in rule.terms} == {0, 1}
    assert agreement(rules, *xor_rows(seed=1)) > 0.97


@pytest.mark.filterwarnings("ignore:The rules never predict", "ignore:max_rules is 2")
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_budget_is_kept_and_a_larger_one_is_more_faithful(n_classes):
    X, target = curved_rows(n_classes=n_classes)
    X_new, target_new = curved_rows(seed=1, n_classes=n_classes)
    empty = no_rules(classes="abcd"[:n_classes])
    fidelities = []
    for budget in (2, 8, 20):
        rules = empty.compact(X, target, max_rules=budget, max_terms=3)
        assert 0 < len(rules) <= budget
        assert rules.columns.lengths.max() <= 3
        fidelities.append(agreement(rules, X_new, target_new))
    assert fidelities[0] < fidelities[1] < fidelities[2]
    assert fidelities[2] > 0.72


@pytest.mark.parametrize("options", [{}, {"shared_premises": True}, {"points": True}])
def test_threads_and_repetition_change_nothing(options):
    X, target = curved_rows(n_rows=900, n_classes=3)
    empty = no_rules(classes="abc")
    one = empty.compact(X, target, max_rules=6, n_jobs=1, **options)
    assert empty.compact(X, target, max_rules=6, n_jobs=3, **options) == one


def test_the_rows_learnt_from_are_decided_as_the_search_saw_them():
    # Thresholds are decimals between training values, so bins and rules agree on every training row.
    X, target = curved_rows()
    X[::7, 0] = np.nan
    rules = no_rules(classes="ab").compact(X, target, max_rules=8)
    assert np.array_equal(rules.columns.cover, rules.fires(X).rows_per_rule())
    assert not rules.fires(np.full((1, 4), np.nan)).dense().any()


def test_sums_of_weights_are_exact():
    X, target = curved_rows(n_classes=3)
    rules = no_rules(classes="abc").compact(X, target, max_rules=12)
    votes = np.concatenate([rules.columns.weight, rules.base])
    assert np.array_equal(votes * 256, np.round(votes * 256))


def test_rules_keep_the_origin_of_the_rule_that_they_were_started_from():
    X, target = xor_rows()
    seed = Rule((Term(0, high=0.45), Term(1, low=0.55)), "yes", origin=Origin("hidden 1", "h3 > 0.2"))
    plain = Rule((Term(0, low=0.6), Term(1, high=0.4)), "yes")
    seeds = RuleSet.from_rules([seed, plain], ["x0", "x1", "x2", "x3"], default="no")
    origins = [rule.origin for rule in seeds.compact(X, target, max_rules=4)]
    assert origins.count(Origin("hidden 1", "h3 > 0.2")) == 1
    assert Origin("rule", "x0 > 0.6 AND x1 ≤ 0.4") in origins
    free = no_rules().compact(X, target, max_rules=2)
    assert all(rule.origin == Origin(RESIDUAL) for rule in free)


def test_no_rule_nearly_repeats_another():
    X, target = xor_rows()
    rules = no_rules().compact(X, target, max_rules=8)
    fires = rules.fires(X).dense()
    for a in range(len(rules)):
        for b in range(a):
            assert (fires[a] & fires[b]).sum() <= 0.8 * (fires[a] | fires[b]).sum()


def test_a_useless_seed_does_no_harm():
    X, target = xor_rows()
    seed = Rule((Term(3, low=0.2, high=0.8),), "no")
    impossible = Rule((Term(3, low=0.8, high=0.2),), "no")
    seeds = RuleSet.from_rules(
        [seed, impossible], ["x0", "x1", "x2", "x3"], default="no", classes=["no", "yes"]
    )
    assert agreement(seeds.compact(X, target, max_rules=2), X, target) > 0.97


def test_categories_and_missing_values_are_handled():
    rng = np.random.default_rng(0)
    job = rng.choice(["nurse", "teacher", "smith", "cook"], 2000)
    age = rng.integers(18, 80, 2000).astype(float)
    target = np.where(np.isin(job, ["nurse", "cook"]) & (age > 40), "yes", "no")
    frame = pd.DataFrame({"job": job, "age": age, "other": rng.random(2000)})
    frame.loc[::11, "job"] = None
    rules = no_rules(features=Features.learn(frame)).compact(frame, target, max_rules=3)
    assert agreement(rules, frame, target) > 0.9
    terms = [term for rule in rules for term in rule.terms if term.name == "job"]
    assert {"nurse", "cook"} in [set(term.values) for term in terms]
    assert any(term.name == "age" and term.low in (40, -np.inf) for rule in rules for term in rule.terms)


def test_a_column_may_have_more_categories_than_bins():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 400, 4000)
    frame = pd.DataFrame({"code": [f"c{c}" for c in code], "x": rng.random(4000)})
    target = np.where(frame["x"] > 0.5, "yes", "no")
    rules = no_rules(features=Features.learn(frame)).compact(frame, target, max_rules=2)
    assert agreement(rules, frame, target) > 0.98


def test_whole_points_are_small_and_cost_little():
    X, target = curved_rows()
    empty = no_rules(classes="ab")
    fitted = empty.compact(X, target, max_rules=12)
    points = empty.compact(X, target, max_rules=12, points=True)
    weights = points.columns.weight
    assert np.array_equal(weights, np.round(weights))
    assert 0 < np.abs(weights).max() <= 5
    assert np.array_equal(points.base, np.round(points.base))
    assert agreement(points, X, target) > agreement(fitted, X, target) - 0.01
    assert "+" in str(points.scorecard())


def cross_entropy(probabilities, given):
    return -np.mean((given * np.log(np.clip(probabilities, 1e-12, 1))).sum(axis=1))


@pytest.mark.parametrize("points", [False, True])
def test_probabilities_are_calibrated_to_the_given_ones(points):
    X, target = curved_rows()
    # A network that is right much more often than its probabilities suggest.
    right = (target == "b").astype(float)
    given = np.column_stack([0.65 - 0.3 * right, 0.35 + 0.3 * right])
    rules = no_rules(classes="ab").compact(X, given, max_rules=10, points=points)
    calibrated = cross_entropy(rules.predict_proba(X), given)
    for scale in (0.5 * rules.scale, 2.0 * rules.scale, 1.0):
        assert calibrated <= cross_entropy(rules.with_scale(scale).predict_proba(X), given) + 1e-6
    assert rules.predict_proba(X).max() < 0.95
    assert agreement(rules, X, target) > 0.85


@pytest.mark.filterwarnings("ignore::clausewise.CompactionWarning")
def test_balance_keeps_rules_for_a_rare_class():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 4))
    # A rare class that is not the most frequent one anywhere.
    target = np.where((X[:, 0] < 0.1) & (rng.random(4000) < 0.35), "yes", "no")
    plain = no_rules().compact(X, target, max_rules=3)
    balanced = no_rules().compact(X, target, max_rules=3, balance="balanced")
    is_rare = target == "yes"
    assert np.mean(plain.predict(X)[is_rare] == "yes") < 0.2
    assert np.mean(balanced.predict(X)[is_rare] == "yes") > 0.9


def test_rows_without_weight_are_ignored():
    X, target = curved_rows(n_rows=1200)
    weight = np.random.default_rng(0).integers(0, 2, 1200)
    empty = no_rules(classes="ab")
    weighted = empty.compact(X, target, max_rules=5, sample_weight=weight)
    assert weighted == empty.compact(X[weight > 0], target[weight > 0], max_rules=5)


def test_only_the_proportions_of_weights_matter():
    X, target = curved_rows(n_rows=800)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 800)
    empty = no_rules(classes="ab")
    light = empty.compact(X, target, max_rules=4, sample_weight=2.0**-20 * weight)
    heavy = empty.compact(X, target, max_rules=4, sample_weight=2.0**20 * weight)
    assert [rule.terms for rule in light] == [rule.terms for rule in heavy]
    assert np.array_equal(light.columns.weight, heavy.columns.weight)


def test_shared_premises_vote_for_every_class():
    X, target = curved_rows(n_classes=4)
    empty = no_rules(classes="abcd")
    shared = empty.compact(X, target, max_rules=8, shared_premises=True)
    premises = {rule.terms for rule in shared}
    assert len(premises) == shared.n_premises <= 8 < len(shared)
    fires = np.unique(shared.fires(X).dense(), axis=0)
    both = fires.astype(int) @ fires.T
    either = fires.sum(axis=1)[:, None] + fires.sum(axis=1) - both
    assert (both[np.triu_indices(len(fires), 1)] <= 0.8 * either[np.triu_indices(len(fires), 1)]).all()
    alone = empty.compact(X, target, max_rules=8)
    X_new, target_new = curved_rows(seed=1, n_classes=4)
    assert agreement(shared, X_new, target_new) > agreement(alone, X_new, target_new)


def test_a_class_without_rows_is_never_predicted():
    X, target = curved_rows(n_classes=3)
    rules = no_rules(classes=("never", "a", "b", "c")).compact(X, target, max_rules=8)
    everywhere = np.random.default_rng(5).normal(scale=5, size=(20_000, 4))
    assert "never" not in rules.predict(everywhere)
    two = no_rules(classes=("never", "a", "b")).compact(*curved_rows(), max_rules=4)
    assert "never" not in two.predict(everywhere)
    assert rules.predict_proba(everywhere)[:, 0].max() < 1e-6
    assert two.predict_proba(everywhere)[:, 0].max() < 1e-6


def test_long_seeds_do_not_give_long_rules():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 24))
    target = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "a", "b")
    long = [Rule([Term(i, low=-3.5 + 0.01 * k, high=3.0) for i in range(24)], "a") for k in range(20)]
    seeds = RuleSet.from_rules(long, [f"x{i}" for i in range(24)], default="a", classes=["a", "b"])
    assert seeds.compact(X, target, max_rules=10, max_terms=1).columns.lengths.max() == 1


def test_a_constant_target_gives_a_warning():
    X, _ = curved_rows(n_rows=50)
    with pytest.warns(CompactionWarning, match="yes on all rows"):
        rules = no_rules().compact(X, ["yes"] * 50, max_rules=4)
    assert set(rules.predict(X)) == {"yes"}
    assert rules.predict_proba(X)[0, 1] > 0.999
    with pytest.warns(CompactionWarning):
        rules = no_rules().compact(X, np.tile([0.1, 0.9], (50, 1)), max_rules=4)
    assert rules.predict_proba(X)[0] == pytest.approx([0.1, 0.9], abs=0.01)


def test_few_rows_and_constant_columns_are_handled():
    X = np.zeros((12, 4))
    X[:6, 1] = 1
    rules = no_rules().compact(X, ["yes"] * 6 + ["no"] * 6, max_rules=4)
    assert rules.predict(X).tolist() == ["yes"] * 6 + ["no"] * 6
    with pytest.warns(CompactionWarning, match="No rule helps"):
        assert len(no_rules().compact(np.zeros((20, 4)), ["yes", "no"] * 10, max_rules=4)) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_rules": 0}, "max_rules is 0"),
        ({"max_rules": 2.5}, "max_rules is 2.5"),
        ({"max_terms": 0}, "max_terms is 0"),
        ({"min_fidelity": 1.5}, "min_fidelity is 1.5"),
        ({"min_fidelity": "0.9"}, "min_fidelity is '0.9'"),
        ({"balance": "yes"}, "balance is 'yes'"),
        ({"points": "yes"}, "points is 'yes'"),
        ({"target": [["no"], ["no", "yes"]] * 20}, "target is not one label per row"),
        ({"target": [["no", "yes"]] * 40}, "neither labels nor probabilities"),
        ({"sample_weight": "abc"}, "sample_weight is not one number per row"),
        ({"penalty": 0.0}, "penalty is 0.0"),
        ({"target": ["no"] * 3}, "target has shape"),
        ({"target": ["maybe"] * 40}, "target holds 'maybe', which is not among the classes"),
        ({"target": np.full((40, 2), 0.7)}, "not probabilities"),
        ({"sample_weight": [-1.0] * 40}, "sample_weight holds negative"),
        ({"X": np.full((40, 4), np.inf)}, "infinity in row 0, column 'x0'"),
        ({"X": np.zeros((40, 3))}, "3"),
        ({"X": np.empty((0, 4)), "target": []}, "no rows"),
    ],
)
def test_bad_input_is_refused(change, message):
    X, target = xor_rows(40)
    arguments = {"X": X, "target": target, "max_rules": 2} | change
    with pytest.raises(ValueError, match=message):
        no_rules().compact(**arguments)


def test_numbers_of_any_integer_type_are_budgets():
    X, target = xor_rows(200)
    rules = no_rules().compact(X, target, max_rules=np.uint8(3), max_terms=2**40)
    assert 0 < len(rules) <= 3
    assert no_rules().frontier(X, target, max_rules=np.int8(3), n_splits=1).budgets.tolist() == [1, 2, 3]


def test_a_saved_small_rule_set_is_the_same(tmp_path):
    X, target = curved_rows(n_classes=3)
    rules = no_rules(classes="abc").compact(X, target, max_rules=6, points=True)
    rules.save(tmp_path / "rules.json")
    loaded = RuleSet.load(tmp_path / "rules.json")
    assert loaded == rules
    assert np.array_equal(loaded.predict_proba(X), rules.predict_proba(X))


# --- Budgets chosen on held-out rows ---


def test_a_frontier_has_every_budget():
    X, target = curved_rows(n_rows=1500)
    frontier = no_rules(classes="ab").frontier(X, target, max_rules=12, n_splits=2)
    assert frontier.budgets.tolist() == list(range(1, 13))
    assert frontier.by_split.shape == (2, 12)
    assert 0.5 < frontier.fidelity[0] < frontier.fidelity[-1] < 1
    assert 1 < frontier.knee < 12
    assert (frontier.spread > 0).any()
    frame = frontier.to_frame()
    assert frame.loc[frame["is_knee"], "rules"].tolist() == [frontier.knee]
    assert f"{frontier.knee:>5}" in str(frontier)
    assert "recommended" in str(frontier)
    again = no_rules(classes="ab").frontier(X, target, max_rules=12, n_splits=2, n_jobs=1)
    assert np.array_equal(again.by_split, frontier.by_split)


def test_a_frontier_estimates_fidelity_on_new_rows():
    X, target = curved_rows(n_rows=4000)
    frontier = no_rules(classes="ab").frontier(X, target, max_rules=8)
    X_new, target_new = curved_rows(n_rows=4000, seed=1)
    reached = agreement(no_rules(classes="ab").compact(X, target, max_rules=8), X_new, target_new)
    assert reached == pytest.approx(frontier.fidelity[7], abs=0.03)


def test_the_least_to_read_that_is_faithful_enough_is_returned():
    X, target = curved_rows(n_rows=1500)
    empty = no_rules(classes="ab")
    frontier = empty.frontier(X, target, by="conditions", max_rules=12, max_conditions=40)
    asked = float(frontier.fidelity[-4])
    rules = empty.compact(X, target, max_rules=12, max_conditions=40, min_fidelity=asked)
    assert 0 < rules.reading_cost <= frontier.smallest(asked) <= frontier.budgets[-4]


def test_an_unreachable_fidelity_gives_a_warning():
    X, target = curved_rows(n_rows=400)
    message = r"No rule set of at most 3 rules and 12 conditions reaches a fidelity of 0\.999"
    with pytest.warns(CompactionWarning, match=message):
        rules = no_rules(classes="ab").compact(X, target, max_rules=3, min_fidelity=0.999)
    assert 0 < len(rules) <= 3


@pytest.mark.filterwarnings("ignore:The rules never predict", "ignore:No rule helps", "ignore:max_rules is 2")
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("max_conditions", [3, 9, 40])
def test_a_budget_of_conditions_is_kept_and_used(n_classes, max_conditions):
    X, target = curved_rows(n_rows=900, n_classes=n_classes)
    empty = no_rules(classes="abcd"[:n_classes])
    rules = empty.compact(X, target, max_conditions=max_conditions)
    assert 0.66 * max_conditions <= rules.reading_cost <= max_conditions
    few = empty.compact(X, target, max_rules=2, max_conditions=max_conditions)
    assert len(few) <= 2
    assert few.reading_cost <= max_conditions


def test_a_higher_price_makes_rules_shorter():
    X, target = curved_rows()
    empty = no_rules(classes="ab")
    costs = [empty.compact(X, target, max_rules=8, price=p).reading_cost for p in (0.0, 4.0, 32.0)]
    assert costs[0] > costs[1] > costs[2]


def test_rules_speak_against_a_class_only_where_they_are_clearly_better(monkeypatch):
    X, target = curved_rows(n_classes=4)

    def n_against(factor):
        monkeypatch.setattr(search, "_FACTOR_AGAINST", factor)
        rules = no_rules(classes="abcd").compact(X, target, max_rules=12)
        return int((rules.columns.weight < 0).sum())

    usual = search._FACTOR_AGAINST
    assert n_against(1e9) == 0 < n_against(usual) < n_against(1.0)


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_a_missing_value_that_means_something_is_asked_for(kind):
    rng = np.random.default_rng(0)
    is_untested = rng.random(800) < 0.3
    value = rng.normal(size=800).round(2) if kind == "numeric" else rng.choice(list("uvw"), 800)
    X = pd.DataFrame({"test": np.where(is_untested, np.nan if kind == "numeric" else None, value)})
    X["noise"] = rng.normal(size=800)
    rules = RuleSet.from_rules([], Features.learn(X), default="no", classes=["no", "yes"])
    rules = rules.compact(X, np.where(is_untested, "yes", "no"), max_rules=2)
    terms = [str(term) for rule in rules for term in rule.terms if term.name == "test"]
    assert terms in (["test is missing"], ["test is known"], ["test ∈ {u, v, w}"])
    assert rules.reading_cost == 2
    assert (rules.predict(X) == np.where(is_untested, "yes", "no")).all()


def test_many_categories_cost_what_they_are_worth():
    rng = np.random.default_rng(0)
    state = rng.integers(0, 40, 3000)
    X = pd.DataFrame({"state": [f"state {s}" for s in state], "x": rng.normal(size=3000)})
    target = np.where(np.isin(state, (3, 7)) ^ (rng.random(3000) < 0.02), "yes", "no")
    start = RuleSet.from_rules([], Features.learn(X), default="no", classes=["no", "yes"])
    rules = start.compact(X, target, max_rules=1)
    assert [term.values for rule in rules for term in rule.terms] == [frozenset({"state 3", "state 7"})]
    assert start.compact(X, target).reading_cost <= 8
    # All but two: stored as the 38 others, read as the two that are excluded.
    rules = start.compact(X, np.where(target == "yes", "no", "yes"), max_rules=1)
    assert rules.reading_cost == 3


def test_the_recommended_budget_is_the_default():
    X, target = xor_rows(600)
    rules = no_rules().compact(X, target)
    assert len(rules) <= 4
    assert agreement(rules, *xor_rows(seed=1)) > 0.95


def test_a_penalty_is_chosen_on_held_out_rows():
    X, target = curved_rows(n_rows=300)
    empty = no_rules(classes="ab")
    chosen = empty.compact(X, target, max_rules=3, penalty="cv")
    candidates = [empty.compact(X, target, max_rules=3, penalty=penalty) for penalty in (0.75, 3, 12)]
    assert chosen in candidates
    assert chosen == empty.compact(X, target, max_rules=3, penalty="cv", random_state=0)
    with pytest.raises(ValueError, match="penalty is 'auto'"):
        empty.compact(X, target, max_rules=3, penalty="auto")


def test_a_frontier_handles_rare_classes_and_refuses_too_few_rows():
    X, target = curved_rows(n_rows=60, n_classes=3)
    target[0] = "d"
    frontier = no_rules(classes="abcd").frontier(X, target, max_rules=3, n_splits=2)
    assert np.isfinite(frontier.fidelity).all()
    one_other = np.array(["a"] * 19 + ["b"])
    frontier = no_rules(classes="abcd").frontier(X[:20], one_other, max_rules=3, n_splits=4)
    assert (frontier.fidelity > 0.8).all()
    with pytest.raises(ValueError, match="8 rows are too few"):
        no_rules(classes="abcd").frontier(X[:8], target[:8])
    with pytest.raises(ValueError, match="n_splits is 0"):
        no_rules(classes="abcd").frontier(X, target, n_splits=0)


# --- Long work ---


def test_progress_shows_what_is_done(capsys):
    X, target = curved_rows(n_rows=500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        no_rules(classes="ab").compact(X, target, max_rules=4, verbose=1)
        assert "4 rules" in capsys.readouterr().err
        no_rules(classes="ab").compact(X, target, max_rules=4)
    assert capsys.readouterr().err == ""


def test_an_interrupt_ends_the_search(monkeypatch):
    X, target = curved_rows(n_rows=500)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)

    def interrupt(self, n_before, n_done, _n_total=0):
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "steps_done", interrupt)
    with pytest.raises(KeyboardInterrupt):
        no_rules(classes="ab").compact(X, target, max_rules=4)


def test_a_budget_is_used_where_the_best_candidates_repeat_rules():
    X, y = load_breast_cancer(return_X_y=True)
    nothing = RuleSet.from_rules([], Features.learn(X), default=0, classes=[0, 1])
    assert nothing.compact(X, y, max_conditions=32).reading_cost >= 30


def test_no_stage_of_the_search_reports_more_steps_than_it_has(monkeypatch):
    stages = []
    monkeypatch.setattr(
        Progress, "part_started", lambda self, name, n_steps, _unit: stages.append((name, n_steps, []))
    )
    monkeypatch.setattr(Progress, "steps_done", lambda self, _n_before, n_done: stages[-1][2].append(n_done))
    X, target = curved_rows(n_rows=500)
    no_rules(classes="ab").compact(X, target, max_rules=6)
    assert {"search: grow", "search: exchange"} <= {name for name, _, _ in stages}
    for _, n_steps, done in stages:
        assert isinstance(n_steps, int)
        assert 0 <= max(done) <= n_steps
