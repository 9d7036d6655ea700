"""Inducers as parts that can be exchanged, one target or many at a time."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from clausewise import Rule, RuleSet, Term
from clausewise.induction import (
    C50Inducer,
    CARTInducer,
    PreparedMatrix,
    RandomForestInducer,
    get_inducer,
    induce_many,
    induce_premises,
)

BUILT_IN = [
    C50Inducer(),
    C50Inducer(winnow=True, min_cases=5),
    CARTInducer(min_leaf=5),
    RandomForestInducer(n_trees=3),
]


@dataclass(frozen=True)
class OneCut:
    """A user's inducer: one threshold on the first column, halfway between the class means."""

    def induce(self, matrix, codes, classes, *, weights=None, n_jobs=None):
        column = matrix.table[:, 0]
        weights = np.ones(len(column)) if weights is None else weights
        means = [np.average(column[codes == c], weights=weights[codes == c]) for c in (0, 1)]
        cut = float(np.mean(means))
        above, below = (0, 1) if means[0] > means[1] else (1, 0)
        rules = [
            self._rule(matrix, codes, classes, above, column > cut, Term(0, low=cut)),
            self._rule(matrix, codes, classes, below, column <= cut, Term(0, high=cut)),
        ]
        return RuleSet.from_rules(rules, matrix.features, classes=list(classes), default=classes[1])

    @staticmethod
    def _rule(matrix, codes, classes, label, fires, term):
        cover, correct = int(fires.sum()), int((fires & (codes == label)).sum())
        return Rule((term,), classes[label], (correct + 1) / (cover + 2), cover, correct)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(800, 6))
    X[:, 4] = np.maximum(X[:, 4], 0)
    X[:, 5] = np.round(X[:, 5], 1)
    return X


@pytest.fixture(scope="module")
def targets(table):
    """Premises as ECLAIRE meets them: the leaves of a tree, and one that never holds."""
    y = (np.sin(2 * table[:, 0]) + table[:, 1] * table[:, 4] > 0.2).astype(int)
    leaf = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(table, y).apply(table)
    return np.array([*(leaf == each for each in np.unique(leaf)), np.zeros(len(table), dtype=bool)])


@pytest.mark.parametrize("inducer", BUILT_IN, ids=repr)
def test_many_targets_give_what_each_gives_alone(inducer, table, targets):
    matrix = PreparedMatrix.prepare(table)
    together = induce_many(inducer, matrix, targets)
    alone = [inducer.induce(matrix, (~target).astype(np.int32), (True, False)) for target in targets]
    assert together == alone
    assert all(rules.classes.tolist() == [True, False] for rules in together)


@pytest.mark.parametrize("inducer", BUILT_IN, ids=repr)
def test_the_number_of_threads_changes_nothing(inducer, table, targets):
    matrix = PreparedMatrix.prepare(table)
    assert induce_many(inducer, matrix, targets, n_jobs=1) == induce_many(inducer, matrix, targets, n_jobs=4)
    few = targets[:1]
    assert induce_many(inducer, matrix, few, n_jobs=1) == induce_many(inducer, matrix, few, n_jobs=4)


@pytest.mark.parametrize("inducer", BUILT_IN, ids=repr)
def test_cover_and_correct_are_those_of_the_training_rows(inducer, table, targets):
    matrix = PreparedMatrix.prepare(table)
    for target in targets[:3]:
        rules = inducer.induce(matrix, (~target).astype(np.int32), (True, False))
        fires = rules.fires(table).dense()
        assert len(rules) > 0
        for rule, covered in zip(rules, fires, strict=True):
            assert rule.cover == covered.sum()
            assert rule.correct == (covered & (target == rule.conclusion)).sum()
            assert rule.confidence == pytest.approx((rule.correct + 1) / (rule.cover + 2))


def test_a_users_inducer_can_be_plugged_in(table):
    matrix = PreparedMatrix.prepare(table)
    target = table[:, 0] > 0.3
    inducer = get_inducer(OneCut())
    (rules,) = induce_many(inducer, matrix, target[None, :])
    assert (rules.predict(table) == target).mean() > 0.85
    reported = []
    weighted = induce_many(
        inducer,
        matrix,
        np.array([target, ~target]),
        positive_weights=np.array([9.0, 1.0]),
        progress=lambda done, total: reported.append((done, total)),
    )
    assert len(weighted) == 2
    assert reported == [(1, 2), (2, 2)]


def test_positive_weights_raise_the_recall_of_a_rare_premise(table):
    rng = np.random.default_rng(2)
    matrix = PreparedMatrix.prepare(table)
    rare = (table[:, 0] > 1.3) & (rng.random(len(table)) < 0.2)
    plain, balanced = (
        induce_many(C50Inducer(min_cases=5), matrix, rare[None, :], positive_weights=weights)[0]
        for weights in (None, np.array([(~rare).sum() / rare.sum()]))
    )
    recall_plain, recall_balanced = (rules.predict(table)[rare].mean() for rules in (plain, balanced))
    assert recall_balanced > recall_plain


@pytest.mark.parametrize("inducer", [*BUILT_IN, OneCut()], ids=repr)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_premises_are_those_of_each_target_with_its_weights(inducer, is_weighted, table, targets):
    matrix = PreparedMatrix.prepare(table)
    some = targets[:3]
    weights = np.where(table[:, 2] > 0.5, 6.0, 0.5) if is_weighted else None
    found = induce_premises(inducer, matrix, some, weights=weights)
    expected = [rules.concluding(True) for rules in induce_many(inducer, matrix, some, weights=weights)]
    assert found.target.tolist() == [place for place, rules in enumerate(expected) for _ in range(len(rules))]
    assert list(found.rules) == [rule for rules in expected for rule in rules]
    if is_weighted:
        assert list(found.rules) != list(induce_premises(inducer, matrix, some).rules)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_c50_learns_weighted_targets_together_as_one_by_one(n_jobs, table, targets):
    matrix, inducer = PreparedMatrix.prepare(table), C50Inducer(min_cases=5, winnow=True)
    weights, factors = np.random.default_rng(3).uniform(0.5, 2, len(table)), np.array([9.0, 1.0, 0.3])
    together = induce_many(
        inducer, matrix, targets[:3], weights=weights, positive_weights=factors, n_jobs=n_jobs
    )
    for found, target, factor in zip(together, targets[:3], factors, strict=True):
        of_rows = np.where(target, factor, 1.0) * weights
        assert found == inducer.induce(matrix, (~target).astype(np.int32), (True, False), weights=of_rows)


def test_a_users_inducer_gets_weighted_targets_at_once_only_if_it_takes_weights(table, targets):
    calls = []

    class AtOnce(OneCut):
        def induce_many(self, matrix, targets, *, positive_weights, n_jobs, progress):
            calls.append(None)
            return [self.induce(matrix, (~target).astype(np.int32), (True, False)) for target in targets]

    class AtOnceWithWeights(AtOnce):
        def induce_many(self, matrix, targets, *, weights, positive_weights, n_jobs, progress):
            calls.append(weights)
            return super().induce_many(
                matrix, targets, positive_weights=positive_weights, n_jobs=n_jobs, progress=progress
            )

    matrix, weights = PreparedMatrix.prepare(table), np.full(len(table), 2.0)
    induce_many(AtOnce(), matrix, targets[:2], weights=weights)
    assert calls == []
    induce_many(AtOnceWithWeights(), matrix, targets[:2], weights=weights)
    assert calls[0] is weights


def test_inducers_have_names():
    assert get_inducer("c5.0", min_cases=7) == C50Inducer(min_cases=7)
    assert get_inducer("CART") == CARTInducer()
    assert get_inducer("random_forest", n_trees=4) == RandomForestInducer(n_trees=4)


def test_wrong_inducers_and_targets_get_clear_errors(table):
    matrix = PreparedMatrix.prepare(table)
    with pytest.raises(ValueError, match=r"inducer is 'c4\.5'; expected 'c5\.0', 'cart', 'random_forest'"):
        get_inducer("c4.5")
    with pytest.raises(TypeError, match="object is not an inducer"):
        get_inducer(object())
    with pytest.raises(ValueError, match="'min_cases' only apply to an inducer given by name"):
        get_inducer(OneCut(), min_cases=2)
    with pytest.raises(ValueError, match=r"booleans of shape \(n_targets, 800\)"):
        induce_many(C50Inducer(), matrix, np.ones((2, 10), dtype=bool))
    with pytest.raises(ValueError, match="whole numbers of shape"):
        C50Inducer().induce(matrix, np.zeros(800), ["a", "b"])
    with pytest.raises(ValueError, match="codes range from 0 to 2; expected 0 to 1 for 2 classes"):
        C50Inducer().induce(matrix, np.arange(800, dtype=np.int32) % 3, ["a", "b"])
    with pytest.raises(ValueError, match="one per target"):
        induce_many(
            C50Inducer(), matrix, np.ones((2, 800), dtype=bool), positive_weights=np.array([1.0, 0.0])
        )


def test_bytes_seen_as_booleans_are_taken_as_true_unless_zero(table):
    matrix = PreparedMatrix.prepare(table)
    plain = table[:, :1].T > 0
    odd = np.where(plain, 2, 0).astype(np.uint8).view(bool)  # reading such a boolean is undefined in C++
    assert induce_many(C50Inducer(), matrix, odd) == induce_many(C50Inducer(), matrix, plain)


@pytest.mark.parametrize("inducer", BUILT_IN, ids=repr)
@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan, np.inf])
def test_inducers_refuse_weights_that_are_none(inducer, weight, table):
    matrix = PreparedMatrix.prepare(table)
    codes = (table[:, 0] > 0).astype(np.int32)
    weights = np.ones(len(table))
    weights[3] = weight
    with pytest.raises(ValueError, match="weight"):
        inducer.induce(matrix, codes, ["a", "b"], weights=weights)


def test_what_is_passed_by_mistake_is_named(table):
    matrix = PreparedMatrix.prepare(table)
    target = table[:, :1].T > 0
    with pytest.raises(TypeError, match=r"matrix is a ndarray; expected PreparedMatrix\.prepare"):
        induce_many(C50Inducer(), table, target)
    with pytest.raises(TypeError, match="progress is a int"):
        induce_many(C50Inducer(), matrix, target, progress=5)
    with pytest.raises(ValueError, match="1e-30 to 1e30"):
        induce_many(C50Inducer(), matrix, target, positive_weights=np.array([1e300]))
    assert len(C50Inducer().induce(matrix, target[0].astype(int).tolist(), ["a", "b"])) == 2


def test_no_target_is_no_work(table):
    assert induce_many(C50Inducer(), PreparedMatrix.prepare(table), np.empty((0, 800), dtype=bool)) == []


def test_products_of_weights_beyond_single_precision_are_rescaled_or_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    matrix, targets = PreparedMatrix.prepare(X), (X[:, 0] + 0.3 * rng.normal(size=300) > 0)[None]

    def learnt(weights, positive_weight):
        return induce_many(
            C50Inducer(), matrix, targets, weights=weights, positive_weights=np.array([positive_weight])
        )

    assert learnt(np.full(300, 2.0**-80), 2.0**-10) == learnt(np.ones(300), 2.0**-10)
    with pytest.raises(ValueError, match="may differ at most by a factor of 1e30"):
        learnt(10.0 ** rng.uniform(-20, 0, 300), 1e20)
