"""The compiled CART against a plain reference and against scikit-learn's trees."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.tree import DecisionTreeClassifier

from clausewise import _core
from clausewise.induction import CARTInducer, PreparedMatrix, induce_many, induce_premises
from tests.reference.cart import Cart, paths, prune

KINDS = ("threshold", "category", "missing")


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
    weights = rng.integers(1, 4, n_rows).astype(np.float64) if with_weights else None
    matrix = _core.prepare_matrix(X, np.maximum(n_categories, 0))
    return matrix, n_categories, codes, n_classes, weights


def reference_for(matrix, n_categories, codes, n_classes, weights, **options):
    columns = np.column_stack([matrix.ranks(c) for c in range(matrix.n_columns)])
    known = np.ones(len(codes)) if weights is None else weights
    return Cart(columns, n_categories.tolist(), codes, n_classes, known, **options)


def leaves_of_core(tree, alpha):
    found = _core.cart_paths([tree], np.array([alpha]))
    leaves = []
    for leaf, (start, end) in enumerate(zip(found["start"][:-1], found["start"][1:], strict=True)):
        way = tuple(
            (
                KINDS[found["kind"][c]],
                int(found["column"][c]),
                int(found["rank"][c]),
                bool(found["is_right"][c]),
            )
            for c in range(start, end)
        )
        leaves.append((way, int(found["label"][leaf]), found["cover"][leaf], found["correct"][leaf]))
    return leaves


def leaves_of_reference(cart, root):
    leaves = []
    for way, leaf in paths(root):
        if any(test[0] == "missing" and is_right for test, is_right in way):
            continue
        leaves.append(
            (tuple((*test[:3], is_right) for test, is_right in way), leaf.label, *cart.cover_of(leaf))
        )
    return leaves


@pytest.mark.parametrize("seed", range(40))
def test_trees_are_those_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    # 300 values of one column are above the bound up to which values are counted, 40 rows are below.
    n_rows = 300 if seed % 4 == 0 else 40
    case = random_case(rng, n_rows, with_missing=seed % 2 == 1, with_weights=seed % 3 == 2)
    bounds = {"min_split": int(rng.integers(2, 8)), "min_leaf": int(rng.integers(1, 4))}
    max_leaves = int(rng.integers(2, 12)) if seed % 5 == 0 else None
    cart = reference_for(*case, **bounds, max_leaves=max_leaves)
    matrix, _, codes, n_classes, weights = case
    options = _core.CartOptions(**bounds, max_leaves=max_leaves or 0)
    tree = _core.grow_cart(matrix, codes, n_classes, weights, None, options)
    assert leaves_of_core(tree, -1.0) == leaves_of_reference(cart, cart.grow())


@pytest.mark.parametrize("seed", range(12))
def test_pruned_trees_are_those_of_the_reference(seed):
    rng = np.random.default_rng(100 + seed)
    case = random_case(rng, 60, with_missing=seed % 2 == 1, with_weights=seed % 3 == 2)
    cart = reference_for(*case)
    matrix, _, codes, n_classes, weights = case
    tree = _core.grow_cart(matrix, codes, n_classes, weights, None, _core.CartOptions())
    alphas = np.unique(tree.alphas())
    # Between the strengths at which something changes, where rounding decides nothing.
    for alpha in [*((alphas[:-1] + alphas[1:]) / 2)[::3].tolist(), 2 * alphas[-1] + 1]:
        root = cart.grow()
        prune(root, alpha, cart.weights.sum())
        assert leaves_of_core(tree, alpha) == leaves_of_reference(cart, root)
        rows = np.arange(len(codes), dtype=np.int32)
        labels = np.empty(len(codes), dtype=np.int32)
        for _, leaf in paths(root):
            labels[leaf.rows] = leaf.label
        np.testing.assert_array_equal(tree.labels(matrix, rows, alpha), labels)


def test_a_tree_of_some_rows_is_the_tree_of_a_matrix_of_these():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(400, 4)), rng.integers(0, 3, 400).astype(np.int32)
    rows = np.sort(rng.choice(400, 250, replace=False)).astype(np.int32)
    nothing = np.zeros(4, dtype=np.int32)
    whole, part = _core.prepare_matrix(X, nothing), _core.prepare_matrix(X[rows], nothing)
    of_rows = _core.grow_cart(whole, codes, 3, None, rows, _core.CartOptions())
    alone = _core.grow_cart(part, codes[rows], 3, None, None, _core.CartOptions())
    everyone = np.arange(len(rows), dtype=np.int32)
    for alpha in (-1.0, 0.005, 0.02):
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
    for number, rules in enumerate(singly):
        of_target = np.flatnonzero(premises.target == number)
        expected = rules.concluding(True).with_default(False)
        assert premises.rules[of_target] == expected
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


def test_a_test_that_gains_nothing_is_made_where_it_leads_on():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = (X[:, 0] != X[:, 1]).astype(np.int32)
    rules = CARTInducer().induce(PreparedMatrix.prepare(X), y, [0, 1])
    assert len(rules) == 4
    assert (rules.predict(X) == y).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.array([0, 0], dtype=np.int32)}, "named twice"),
        ({"rows": np.array([7], dtype=np.int32)}, "out of range"),
        ({"rows": np.array([], dtype=np.int32)}, "no rows"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "positive"),
        ({"weights": np.ones(2)}, "one weight"),
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


def test_a_wrong_criterion_is_refused():
    with pytest.raises(ValueError, match="criterion is 'gain'; expected 'gini' or 'entropy'"):
        CARTInducer(criterion="gain").induce(
            PreparedMatrix.prepare([[1.0], [2.0]]), np.array([0, 1], dtype=np.int32), [0, 1]
        )
