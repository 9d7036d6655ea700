"""The compiled CART against a plain reference and against scikit-learn's trees."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.tree import DecisionTreeClassifier

from clausewise import _core
from clausewise.induction import CARTInducer, PreparedMatrix, induce_many, induce_premises
from tests.reference.cart import Cart, paths, prune


def random_case(rng, n_rows, *, with_missing, with_weights):
    """Columns of few and of many values and of categories, and classes that have to do with them."""
    n_classes = int(rng.integers(2, 5))
    n_categories = np.array([-1, -1, -1, 3, -1, 6], dtype=np.int32)
    X = np.column_stack(
        [
            rng.normal(size=n_rows),
            rng.integers(0, 5, n_rows),
            np.where(rng.random(n_rows) < 0.5, 0.0, rng.random(n_rows)),
            rng.integers(0, 3, n_rows),
            np.round(rng.normal(size=n_rows), 1),
            rng.integers(0, 6, n_rows),
        ]
    )
    score = X[:, 0] + (X[:, 1] > 2) + (X[:, 3] == 1) + rng.normal(scale=0.5, size=n_rows)
    codes = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)).astype(np.int32)
    if with_missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    weights = rng.integers(1, 4, n_rows) / 3.0 if with_weights else None
    matrix = _core.prepare_matrix(X, np.maximum(n_categories, 0))
    return matrix, n_categories, codes, n_classes, weights


def reference_for(matrix, n_categories, codes, n_classes, weights, **options):
    columns = np.column_stack([matrix.ranks(c) for c in range(matrix.n_columns)])
    known = np.ones(len(codes)) if weights is None else weights
    return Cart(columns, n_categories.tolist(), codes, n_classes, known, **options)


def leaves_of_core(tree, alpha, n_categories):
    found = _core.cart_paths([tree], np.array([alpha]))
    leaves = []
    for leaf, (start, end) in enumerate(zip(found["start"][:-1], found["start"][1:], strict=True)):
        path = []
        for c in range(start, end):
            column = int(found["column"][c])
            kind = "category" if n_categories[column] >= 0 else "threshold"
            kind = "missing" if found["tests_missing"][c] else kind
            path.append((kind, column, int(found["rank"][c]), bool(found["is_right"][c])))
        leaves.append((tuple(path), int(found["label"][leaf]), found["cover"][leaf], found["correct"][leaf]))
    return leaves


def leaves_of_reference(cart, root):
    leaves = []
    for path, leaf in paths(root):
        if any(test[0] == "missing" and is_right for test, is_right in path):
            continue
        leaves.append(
            (tuple((*test[:3], is_right) for test, is_right in path), leaf.label, *cart.cover_of(leaf))
        )
    return leaves


def assert_same_leaves(ours, theirs):
    assert [leaf[:2] for leaf in ours] == [leaf[:2] for leaf in theirs]
    np.testing.assert_allclose([leaf[2:] for leaf in ours], [leaf[2:] for leaf in theirs])


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("with_missing", [False, True])
# With 600 rows a column has more values than are counted, for any number of classes; with 40 rows all are.
@pytest.mark.parametrize("n_rows", [40, 600])
@pytest.mark.parametrize("seed", range(4))
def test_trees_are_those_of_the_reference(seed, n_rows, with_missing, with_weights, criterion):
    rng = np.random.default_rng(seed)
    case = random_case(rng, n_rows, with_missing=with_missing, with_weights=with_weights)
    bounds = {"min_split": int(rng.integers(2, 8)), "min_leaf": int(rng.integers(1, 4))}
    if n_rows > 40:
        bounds["min_split"] = 60
    max_leaves = int(rng.integers(2, 12)) if seed == 1 else None
    cart = reference_for(*case, **bounds, max_leaves=max_leaves, criterion=criterion)
    matrix, n_categories, codes, n_classes, weights = case
    options = _core.CartOptions(**bounds, max_leaves=max_leaves or 0, entropy=criterion == "entropy")
    tree = _core.grow_cart(matrix, codes, n_classes, weights, None, options)
    assert_same_leaves(leaves_of_core(tree, 0.0, n_categories), leaves_of_reference(cart, cart.grow()))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("seed", range(8))
def test_pruned_trees_are_those_of_the_reference(seed, criterion):
    rng = np.random.default_rng(100 + seed)
    case = random_case(rng, 60, with_missing=seed % 2 == 1, with_weights=seed % 4 >= 2)
    cart = reference_for(*case, criterion=criterion)
    matrix, n_categories, codes, n_classes, weights = case
    options = _core.CartOptions(entropy=criterion == "entropy")
    tree = _core.grow_cart(matrix, codes, n_classes, weights, None, options)
    alphas = np.unique(tree.alphas().round(12))
    # Between the strengths at which something changes, where rounding decides nothing.
    for alpha in [*((alphas[:-1] + alphas[1:]) / 2)[::3].tolist(), 2 * alphas[-1] + 1]:
        root = cart.grow()
        prune(root, alpha, cart.weights.sum())
        assert_same_leaves(leaves_of_core(tree, alpha, n_categories), leaves_of_reference(cart, root))
        rows = np.arange(len(codes), dtype=np.int32)
        labels = np.empty(len(codes), dtype=np.int32)
        for _, leaf in paths(root):
            labels[leaf.rows] = leaf.label
        np.testing.assert_array_equal(tree.labels(matrix, rows, alpha), labels)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_without_pruning_tests_that_gain_nothing_by_themselves_stay(criterion):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = (X[:, 0] != X[:, 1]).astype(np.int32)
    matrix = PreparedMatrix.prepare(X)
    for settings, n_leaves in (({}, 4), ({"min_cases": 15}, 2), ({"min_leaf": 8}, 2)):
        assert len(CARTInducer(criterion=criterion, **settings).induce(matrix, y, [0, 1])) == n_leaves


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_of_tests_that_divide_the_rows_alike_the_first_column_is_taken(criterion):
    rng = np.random.default_rng(0)
    for weights in (None, np.full(200, 7 / 3), rng.random(200) + 0.1):
        for _ in range(20):
            x = rng.normal(size=200)
            y = ((x + rng.normal(size=200)) > 0).astype(np.int32)
            inducer = CARTInducer(max_leaves=2, criterion=criterion)
            for copies in ([x, -x], [x, 3 * x, -x]):
                matrix = PreparedMatrix.prepare(np.column_stack(copies))
                rules = inducer.induce(matrix, y, [0, 1], weights=weights)
                assert {term.feature for rule in rules for term in rule.terms} == {0}


def test_small_weights_next_to_large_ones_are_not_lost_in_rounding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = ((X[:, 0] + rng.normal(size=3000)) > 0).astype(np.int32)
    weights = np.where(y == 1, 1e8 / 3, 1.0)
    rules = CARTInducer(max_leaves=2).induce(PreparedMatrix.prepare(X), y, [0, 1], weights=weights)
    tree = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(
        X.astype(np.float32), y, sample_weight=weights
    )
    at_most = next(term for rule in rules for term in rule.terms if np.isfinite(term.high))
    assert at_most.feature == tree.tree_.feature[0]
    assert at_most.high == pytest.approx(tree.tree_.threshold[0], abs=0.05)


def test_a_tree_as_deep_as_it_has_rows_is_pruned():
    n_rows = 3000
    y = (np.arange(n_rows) % 2).astype(np.int32)
    weights = (np.arange(n_rows, 0, -1) / n_rows) ** 2 * 1e4
    matrix = PreparedMatrix.prepare(np.arange(float(n_rows))[:, None])
    assert len(CARTInducer(ccp_alpha=0.4).induce(matrix, y, [0, 1], weights=weights)) < 10


def test_a_tree_of_some_rows_is_the_tree_of_a_matrix_of_these():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(400, 4)), rng.integers(0, 3, 400).astype(np.int32)
    rows = np.sort(rng.choice(400, 250, replace=False)).astype(np.int32)
    nothing = np.zeros(4, dtype=np.int32)
    whole, part = _core.prepare_matrix(X, nothing), _core.prepare_matrix(X[rows], nothing)
    of_rows = _core.grow_cart(whole, codes, 3, None, rows, _core.CartOptions())
    alone = _core.grow_cart(part, codes[rows], 3, None, None, _core.CartOptions())
    everyone = np.arange(len(rows), dtype=np.int32)
    for alpha in (0.0, 0.005, 0.02):
        np.testing.assert_array_equal(of_rows.labels(whole, rows, alpha), alone.labels(part, everyone, alpha))
    np.testing.assert_array_equal(np.sort(of_rows.alphas()), np.sort(alone.alphas()))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("ccp_alpha", [0.0, 0.003])
def test_trees_decide_as_those_of_scikit_learn(criterion, ccp_alpha):
    X, y = make_classification(
        1500, 12, n_informative=6, n_classes=4, n_clusters_per_class=2, flip_y=0.1, random_state=4
    )
    X = X.astype(np.float32)
    # With so many rows in every leaf no two tests are equally good (for these rows).
    settings = {"criterion": criterion, "ccp_alpha": ccp_alpha}
    theirs = DecisionTreeClassifier(
        min_samples_split=60, min_samples_leaf=15, random_state=0, **settings
    ).fit(X, y)
    inducer = CARTInducer(min_cases=60, min_leaf=15, **settings)
    ours = inducer.induce(PreparedMatrix.prepare(X), y.astype(np.int32), [0, 1, 2, 3])
    assert len(ours) == theirs.get_n_leaves()
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_best_leaves_come_first_as_in_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    for n_leaves in (2, 3, 5, 8):
        theirs = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(X, y)
        ours = CARTInducer(max_leaves=n_leaves).induce(PreparedMatrix.prepare(X), y.astype(np.int32), [0, 1])
        assert len(ours) == n_leaves
        assert (ours.predict(X) == y).mean() == theirs.score(X, y)


@pytest.mark.parametrize("ccp_alpha", [0.0, 0.002, "cv"])
def test_premises_of_many_targets_are_those_of_single_fits(ccp_alpha):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    targets = np.array([X[:, 0] > 0, np.nan_to_num(X[:, 1]) + X[:, 2] > 0.3, np.full(300, True), X[:, 3] > 9])
    targets ^= rng.random(targets.shape) < 0.05
    positive_weights = np.array([1.0, 2.5, 1.0, 3.0])
    matrix = PreparedMatrix.prepare(X)
    inducer = CARTInducer(min_cases=5, ccp_alpha=ccp_alpha)
    seen = []
    premises = induce_premises(
        inducer,
        matrix,
        targets,
        positive_weights=positive_weights,
        n_jobs=3,
        progress=lambda done, total: seen.append((done, total)),
    )
    singly = induce_many(inducer, matrix, targets, positive_weights=positive_weights)
    for number, (rules, target) in enumerate(zip(singly, targets, strict=True)):
        weights = np.where(target, positive_weights[number], 1.0)
        alone = inducer.induce(matrix, (~target).astype(np.int32), (True, False), weights=weights)
        assert [rule.terms for rule in rules] == [rule.terms for rule in alone]
        assert rules.default == alone.default
        of_target = np.flatnonzero(premises.target == number)
        assert premises.rules[of_target] == rules.concluding(True).with_default(False)
    assert seen[-1] == (4, 4)


def test_counts_of_a_leaf_are_those_of_its_rule():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = ((np.nan_to_num(X[:, 0]) > 0) ^ (rng.random(500) < 0.2)).astype(np.int32)
    matrix, weights = PreparedMatrix.prepare(X), rng.integers(1, 5, 500).astype(np.float64)
    rules = CARTInducer(min_cases=20).induce(matrix, y, [0, 1], weights=weights)
    assert len(rules) > 5
    cover, correct = rules.evaluator.statistics(matrix.table, y, weights)
    # Weights only count relative to each other.
    ratio = rules.columns.cover.sum() / cover.sum()
    np.testing.assert_allclose(rules.columns.cover, cover * ratio)
    np.testing.assert_allclose(rules.columns.correct, correct * ratio)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.array([0, 0], dtype=np.int32)}, "occurs twice"),
        ({"rows": np.array([7], dtype=np.int32)}, "out of range"),
        ({"rows": np.array([], dtype=np.int32)}, "no rows"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "positive"),
        ({"weights": np.ones(2)}, "one entry per row"),
        ({"codes": np.array([0, 1, 2], dtype=np.int32)}, "class code is out of range"),
        ({"options": _core.CartOptions(min_leaf=0)}, "min_leaf"),
        ({"options": _core.CartOptions(min_split=1)}, "min_split"),
        ({"options": _core.CartOptions(max_leaves=1)}, "max_leaves"),
    ],
)
def test_the_core_refuses_what_it_cannot_learn_from(change, message):
    matrix = _core.prepare_matrix(np.arange(3.0)[:, None], np.zeros(1, dtype=np.int32))
    given = {
        "codes": np.array([0, 1, 1], dtype=np.int32),
        "n_classes": 2,
        "weights": None,
        "rows": None,
        "options": _core.CartOptions(),
    }
    with pytest.raises(ValueError, match=message):
        _core.grow_cart(matrix, **(given | change))
