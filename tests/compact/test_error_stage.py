"""The last stage of a search: fewer errors instead of a smaller logistic loss."""

import math

import numpy as np
import pytest

from clausewise import Features, RuleSet
from clausewise.compact.bins import Bins
from clausewise.compact.error_stage import lower_errors
from clausewise.compact.model import Model, fires
from clausewise.compact.search import Budget, Search, SearchOptions


def ignore(stage, n_done, n_total):
    """Take reports of progress."""


def searched(n_classes, n_rows=3000, n_rules=6, seed=0):
    """A search that has found some rules by the logistic loss."""
    draw = np.random.default_rng(seed)
    table = draw.normal(size=(n_rows, 4))
    score = table[:, 0] ** 2 + np.sin(2 * table[:, 1]) + 0.5 * table[:, 2]
    codes = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score).astype(np.int32)
    bins = Bins.learn(table, Features(("a", "b", "c", "d")))
    model = Model(codes, n_classes, draw.uniform(0.5, 1.5, n_rows), 8.0)
    search = Search(bins, model, [], SearchOptions(max_terms=3, min_rows=5), lambda *_: None)
    search.compact(Budget(n_rules), 1.0)
    return search, codes


def votes_of(model):
    scores = np.array([block.fit.score for block in model.blocks])
    return np.vstack([np.zeros_like(scores), scores]) if len(scores) == 1 else scores


def smooth_errors(model, codes, sharpness):
    """The objective of the stage, written down as it is defined."""
    powers = np.exp(sharpness * (votes_of(model) - votes_of(model).max(axis=0)))
    right = (powers / powers.sum(axis=0))[codes, np.arange(len(codes))]
    weights = np.concatenate([block.fit.weights[:-1] for block in model.blocks])
    penalty = 0.2 * model.penalty / 2 * (weights @ weights)
    return 2 / sharpness * (model.row_weight @ (1 - right)) + penalty


@pytest.mark.parametrize(("n_classes", "sharpness"), [(2, 4.0), (4, 1.0)])
def test_smooth_errors_and_price_fall(n_classes, sharpness):
    search, codes = searched(n_classes)
    n_rules, before = (
        search.n_rules,
        smooth_errors(search.model, codes, sharpness) + search.price * search.cost,
    )
    lower_errors(search, Budget(6), ignore)
    assert search.n_rules == n_rules
    assert smooth_errors(search.model, codes, sharpness) + search.price * search.cost < before - 1


@pytest.mark.parametrize("n_classes", [2, 4])
def test_fewer_rows_are_decided_wrongly(n_classes):
    n_wrong = np.zeros((4, 2))
    for seed in range(4):
        search, codes = searched(n_classes, seed=seed)
        n_wrong[seed, 0] = (votes_of(search.model).argmax(axis=0) != codes).sum()
        lower_errors(search, Budget(6), ignore)
        n_wrong[seed, 1] = (votes_of(search.model).argmax(axis=0) != codes).sum()
    assert n_wrong[:, 1].sum() < 0.98 * n_wrong[:, 0].sum()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_stored_scores_are_those_of_the_rules(n_classes):
    search, codes = searched(n_classes)
    lower_errors(search, Budget(6), ignore)
    for block in search.model.blocks:
        expected = np.full(len(codes), block.fit.weights[-1])
        for member, weight in zip(block.members, block.fit.weights, strict=False):
            expected += weight * fires(member, len(codes))
        assert block.fit.score == pytest.approx(expected)
        assert block.fit.second.shape == (len(block.members) + 1,) * 2


@pytest.mark.parametrize("slack", [0, 1, 3])
def test_a_budget_of_conditions_is_kept(slack):
    search, _ = searched(2)
    budget = Budget(6, search.cost + slack)
    search.price = 0.0  # anything that lowers errors is worth reading
    lower_errors(search, budget, ignore)
    assert search.cost <= budget.reading_cost


def test_a_high_price_makes_rules_shorter():
    free, dear = (searched(2)[0] for _ in range(2))
    free.price, dear.price = 0.0, 60.0
    for search in (free, dear):
        lower_errors(search, Budget(6), ignore)
    assert dear.cost < free.cost


def test_a_model_without_rules_stays_as_it_is():
    search, _ = searched(2, n_rules=1)
    search.model.replace(0, search.model.fitted(0, (), np.zeros(1)))
    lower_errors(search, Budget(6, math.inf), ignore)
    assert search.n_rules == 0


def test_probabilities_are_calibrated_to_labels_after_the_stage():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(6000, 3))
    labels = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + draw.logistic(0, 0.3, 6000) > 0.5, "yes", "no")
    rules = RuleSet.from_rules([], ["a", "b", "c"], default="no", classes=["no", "yes"]).compact(
        X, labels, max_rules=6
    )
    share = rules.predict_proba(X)[:, 1]
    for low in (0.0, 0.25, 0.5, 0.75):
        is_here = (share >= low) & (share < low + 0.25)
        if is_here.sum() > 200:
            assert np.mean(labels[is_here] == "yes") == pytest.approx(share[is_here].mean(), abs=0.12)


def test_progress_is_reported():
    search, _ = searched(2)
    reported = []
    lower_errors(search, Budget(6), lambda *step: reported.append(step))
    assert {stage for stage, _, _ in reported} == {"errors"}
    assert all(0 <= n_done < n_total == 3 * search.n_rules for _, n_done, n_total in reported)
