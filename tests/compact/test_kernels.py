"""The core's kernels against plain NumPy."""

import numpy as np
import pytest

from clausewise import _core
from clausewise.compact.bins import bin_set, packed, unpacked
from tests.reference import boxes as reference

PENALTY = 3.0


def random_table(seed, n_rows=None, n_columns=4, nominal=False, missing=True):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(30, 300)) if n_rows is None else n_rows
    n_bins = rng.integers(2, 9, n_columns).astype(np.int32)
    # The bin after the last one is for missing values.
    bins = np.array([rng.integers(0, n + missing, n_rows) for n in n_bins], dtype=np.uint8)
    # In odd tables, most rows have the same bin in two columns, which are then stored in another way.
    for column in bins[: 2 * (seed % 2)]:
        column[rng.random(n_rows) < 0.85] = rng.choice(column)
    return bins, n_bins, byte_matrix(bins, n_bins, nominal), rng


def byte_matrix(bins, n_bins, nominal=False, tests_missing=False):
    n_values = n_bins if nominal else np.full(len(n_bins), -1, np.int32)
    return _core.ByteMatrix(bins, n_bins, n_values, np.full(len(n_bins), tests_missing, np.uint8))


def search(matrix, gradient, curvature, starts=(), **options):
    how = {"max_terms": 3, "min_rows": 1, "beam_width": 6, "n_refined": 3, "n_columns": 64, "max_moves": 12}
    how |= {"min_growth": 1.02, "price": 0.0, "n_threads": 1, "signs": [1, -1], "penalty": PENALTY}
    begun, columns, accepts = packed(starts)
    found = matrix.search(
        gradient, curvature, starts=begun, columns=columns, accepts=accepts, **(how | options)
    )
    return unpacked(*found[:3]), *found[3:]


def random_derivatives(rng, n_rows):
    return rng.normal(size=n_rows), rng.uniform(0.01, 0.25, n_rows)


@pytest.mark.parametrize("seed", range(20))
def test_gains_are_those_of_the_boxes_found(seed):
    bins, _, matrix, rng = random_table(seed, nominal=seed % 3 == 0)
    gradient, curvature = random_derivatives(rng, bins.shape[1])
    found, signs, _, gains = search(matrix, gradient, curvature)
    assert found
    for box, sign, gain in zip(found, signs, gains, strict=True):
        rows = reference.covered(bins, box)
        assert np.sign(gradient[rows].sum()) == sign
        assert gain == pytest.approx(reference.gain(rows, gradient, curvature, PENALTY), rel=1e-5)
        assert len({column for column, _ in box}) == len(box) <= 3
    assert list(gains) == sorted(gains, reverse=True)
    assert len({(box, sign) for box, sign in zip(found, signs.tolist(), strict=True)}) == len(found)


@pytest.mark.parametrize(
    "n_rows", [2**20, pytest.param(2**24 + 2**20, marks=pytest.mark.fuzz)], ids=["1 million", "18 million"]
)
def test_sums_over_millions_of_rows_are_not_biased(n_rows):
    # Equal derivatives, whose roundings add up; the longer test needs 1 GB.
    bins = (np.arange(n_rows) % 3 == 0).astype(np.uint8)[None]
    gradient, curvature = np.where(bins[0], 1.0, -1e-4), np.full(n_rows, 0.25)
    found, signs, _, gains = search(byte_matrix(bins, np.array([2], np.int32)), gradient, curvature)
    rows = reference.covered(bins, found[0])
    assert rows.tolist() == (bins[0] == 1).tolist()
    assert signs[0] == 1
    assert gains[0] == pytest.approx(reference.gain(rows, gradient, curvature, PENALTY), rel=2e-5)


@pytest.mark.parametrize("seed", range(20))
def test_no_single_bound_is_better_than_the_best_box_of_one_term(seed):
    bins, n_bins, matrix, rng = random_table(seed)
    gradient, curvature = random_derivatives(rng, bins.shape[1])
    _, _, _, gains = search(matrix, gradient, curvature, max_terms=1)
    best = max(
        reference.gain(np.isin(bins[column], list(accepted)), gradient, curvature, PENALTY)
        for column, accepted in reference.one_sided_terms(bins, n_bins)
    )
    assert gains[0] >= best * (1 - 1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_replacing_a_term_of_a_refined_box_does_not_help(seed):
    bins, n_bins, matrix, rng = random_table(seed)
    gradient, curvature = random_derivatives(rng, bins.shape[1])
    found, _, _, gains = search(matrix, gradient, curvature)
    box, gain = found[0], gains[0]
    for place in range(len(box)):
        others = box[:place] + box[place + 1 :]
        rest = reference.covered(bins, others)
        for column, accepted in reference.one_sided_terms(bins, n_bins):
            rows = rest & np.isin(bins[column], list(accepted))
            if np.sign(gradient[rows].sum()) == np.sign(gradient[reference.covered(bins, box)].sum()):
                assert reference.gain(rows, gradient, curvature, PENALTY) <= gain * (1 + 1e-5)


def test_the_best_set_of_categories_is_found():
    bins, n_bins, matrix, rng = random_table(3, n_rows=400, n_columns=1, nominal=True)
    gradient, curvature = random_derivatives(rng, 400)
    _, _, _, gains = search(matrix, gradient, curvature, max_terms=1)
    subsets = [[b for b in range(n_bins[0]) if number >> b & 1] for number in range(1, 1 << int(n_bins[0]))]
    best = max(reference.gain(np.isin(bins[0], s), gradient, curvature, PENALTY) for s in subsets)
    # Curvatures are alike here, so the order by single gains contains the best set up to small differences.
    assert gains[0] >= best * 0.98


def test_two_features_that_are_only_informative_together_are_found():
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 2, (6, 2000)).astype(np.uint8)
    matrix = byte_matrix(bins, np.full(6, 2, np.int32))
    gradient = np.where(bins[1] ^ bins[4], 0.5, -0.5)
    found, *_ = search(matrix, gradient, np.full(2000, 0.25))
    assert {tuple(column for column, _ in box) for box in found[:2]} == {(1, 4)}


@pytest.mark.parametrize("seed", range(20))
def test_boxes_are_listed_by_gain_less_price(seed):
    nominal = seed % 2 == 0
    bins, n_bins, matrix, rng = random_table(seed, nominal=nominal)
    gradient, curvature = random_derivatives(rng, bins.shape[1])
    found, _, _, gains = search(matrix, gradient, curvature, price=0.7)
    costs = matrix.reading_cost(*packed(found))
    n_values = n_bins if nominal else np.full(len(n_bins), -1)
    assert costs.tolist() == [reference.reading_cost(box, n_bins, n_values) for box in found]
    net = gains - 0.7 * costs
    assert net.tolist() == sorted(net, reverse=True)


@pytest.mark.parametrize("price", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_set_of_categories_at_a_price_is_found(seed, price):
    bins, n_bins, matrix, rng = random_table(seed, n_rows=400, n_columns=1, nominal=True)
    gradient, curvature = rng.normal(size=400) + bins[0] % 3 - 1, rng.uniform(0.1, 0.25, 400)

    def net(box):
        gain = reference.gain(reference.covered(bins, box), gradient, curvature, PENALTY)
        return gain - price * reference.reading_cost(box, n_bins, n_bins)

    found, *_ = search(matrix, gradient, curvature, max_terms=1, price=price)
    every = [
        ((0, bin_set([b for b in range(n_bins[0]) if number >> b & 1])),)
        for number in range(1, 2 ** n_bins[0])
    ]
    assert net(found[0]) >= 0.98 * max(net(box) for box in every)


@pytest.mark.parametrize("nominal", [False, True])
def test_a_box_may_ask_whether_a_value_is_missing(nominal):
    bins, n_bins, _, _ = random_table(5, n_rows=500, n_columns=3, nominal=nominal)
    matrix = byte_matrix(bins, n_bins, nominal, tests_missing=True)
    is_missing = bins[1] == n_bins[1]
    found, signs, *_ = search(matrix, np.where(is_missing, 1.0, -0.2), np.full(500, 0.2), price=1.0)
    asked = {sign: next(box for box, of in zip(found, signs, strict=True) if of == sign) for sign in (1, -1)}
    assert asked[1] == ((1, bin_set([n_bins[1]])),)
    assert asked[-1] == ((1, bin_set(range(n_bins[1]))),)  # is known
    assert matrix.reading_cost(*packed(list(asked.values()))).tolist() == [1, 1]


def test_missing_values_are_in_no_other_box():
    bins, n_bins, matrix, _ = random_table(5, n_rows=500)
    # Only whether the value is missing is informative.
    gradient = np.where(bins[0] == n_bins[0], 1.0, -0.1)
    for box in search(matrix, gradient, np.full(500, 0.2))[0]:
        rows = reference.covered(bins, box)
        for column, _ in box:
            assert not (bins[column][rows] == n_bins[column]).any()


def test_boxes_cover_the_required_number_of_rows():
    bins, _, matrix, rng = random_table(6, n_rows=300)
    gradient, curvature = random_derivatives(rng, 300)
    for box in search(matrix, gradient, curvature, min_rows=60)[0]:
        assert reference.covered(bins, box).sum() >= 60


def test_a_start_that_is_too_long_is_made_shorter():
    bins, n_bins, matrix, rng = random_table(7)
    gradient, curvature = random_derivatives(rng, bins.shape[1])
    start = tuple((column, bin_set(range(n_bins[column] - 1))) for column in range(4))
    found, _, origins, _ = search(matrix, gradient, curvature, [start], max_terms=2, beam_width=0)
    assert origins.tolist() == [0]
    assert len(found[0]) <= 2


def test_a_start_of_more_terms_than_there_are_moves_is_made_shorter():
    _, n_bins, matrix, rng = random_table(12, n_rows=500, n_columns=40)
    gradient, curvature = random_derivatives(rng, 500)
    start = tuple((column, bin_set(range(1, n_bins[column]))) for column in range(40))
    found, *_ = search(matrix, gradient, curvature, [start], max_terms=2, beam_width=0, max_moves=3)
    assert all(len(box) <= 2 for box in found)


@pytest.mark.parametrize("n_columns", [2, 64])
def test_threads_change_nothing(n_columns):
    _, _, matrix, rng = random_table(8, n_rows=3000, n_columns=10)
    gradient, curvature = random_derivatives(rng, 3000)
    one = search(matrix, gradient, curvature, n_columns=n_columns)
    three = search(matrix, gradient, curvature, n_columns=n_columns, n_threads=3)
    assert one[0] == three[0]
    for mine, theirs in zip(one[1:], three[1:], strict=True):
        assert np.array_equal(mine, theirs)


def test_a_wide_table_is_searched_in_its_most_informative_columns():
    bins, _, matrix, rng = random_table(9, n_rows=2000, n_columns=300, missing=False)
    gradient = rng.normal(size=2000) * 0.1 + np.where(bins[217] == 0, 1.0, 0.0)
    found, *_ = search(matrix, gradient, np.full(2000, 0.25), n_columns=20)
    assert 217 in {column for column, _ in found[0]}


@pytest.mark.parametrize("nominal", [False, True])
def test_covered_rows_are_those_of_the_reference(nominal):
    bins, n_bins, matrix, _ = random_table(10, n_rows=777, nominal=nominal)
    listed = [
        (),
        ((0, bin_set([0])),),
        ((1, bin_set(range(1, n_bins[1]))), (3, bin_set([0, n_bins[3] - 1]))),
    ]
    words = matrix.covered(*packed(listed)).reshape(3, -1)
    expected = np.array([reference.covered(bins, box) for box in listed])
    assert np.array_equal(words, reference.bits(expected))


def test_bad_boxes_are_refused():
    _, _, matrix, _ = random_table(11)
    with pytest.raises(ValueError, match="unknown column"):
        matrix.covered(*packed([((9, bin_set([0])),)]))
    with pytest.raises(ValueError, match="four words"):
        matrix.covered(np.array([0, 1], np.int32), np.array([0], np.int32), np.array([1], np.uint64))
    with pytest.raises(ValueError, match="exceeds the number of bins"):
        byte_matrix(np.full((1, 3), 7, np.uint8), np.array([2], np.int32))


# --- Weights ---


def random_fires(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_rules = int(rng.integers(50, 400)), int(rng.integers(0, 70))
    fires = rng.random((n_rules, n_rows)) < rng.uniform(0.05, 0.6, (n_rules, 1))
    return fires, rng.random(n_rows).round() * 0.9 + 0.05, rng.uniform(0.2, 3.0, n_rows), rng


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_weights_are_those_of_least_loss(seed, with_offset):
    fires, target, row_weight, rng = random_fires(seed)
    offset = rng.normal(size=len(target)) if with_offset else np.zeros(0)
    weights, margin, gram, objective = _core.fit_weights(
        reference.bits(fires), target, row_weight, offset, 2.0, np.zeros(len(fires) + 1), 100, 1e-12
    )
    shift = offset if with_offset else np.zeros(len(target))
    expected, least = reference.fitted(fires, target, row_weight, shift, 2.0)
    assert objective == pytest.approx(least, rel=1e-8)
    assert np.allclose(weights, expected, atol=1e-4)
    assert np.allclose(margin, shift + weights[:-1] @ fires + weights[-1])
    p = 1 / (1 + np.exp(-margin))
    design = np.vstack([fires, np.ones(len(target))]).astype(float)
    second = design @ ((row_weight * p * (1 - p))[:, None] * design.T)
    assert np.allclose(
        gram.reshape(len(weights), -1), second + np.diag([2.0] * len(fires) + [0.0]), atol=1e-7
    )


@pytest.mark.parametrize("start", [-800.0, -30.0, -4.0, 3.5, 5.0, 25.0, 800.0])
@pytest.mark.parametrize("fraction", [0.05, 0.46, 0.54, 0.92])
def test_weights_are_found_from_where_all_rows_are_certain(fraction, start):
    # As after dropping a rule that made up for a large intercept.
    target = (np.arange(20_000) < 20_000 * fraction).astype(float)
    weights, _, _, objective = _core.fit_weights(
        reference.bits(np.zeros((0, len(target)), dtype=bool)),
        target,
        np.ones(len(target)),
        np.zeros(0),
        16.0,
        np.array([start]),
        100,
        1e-3,
    )
    assert weights[0] == pytest.approx(np.log(fraction / (1 - fraction)), abs=1e-2)
    expected = -len(target) * (fraction * np.log(fraction) + (1 - fraction) * np.log(1 - fraction))
    assert objective == pytest.approx(expected, rel=1e-5)


def test_copies_of_a_rule_share_its_weight():
    fires = np.repeat(np.random.default_rng(0).random((1, 200)) < 0.5, 3, axis=0)
    target = fires[0].astype(float)
    weights, *_ = _core.fit_weights(
        reference.bits(fires), target, np.ones(200), np.zeros(0), 1.0, np.zeros(4), 100, 1e-12
    )
    assert np.allclose(weights[:3], weights[0])


def test_sums_over_the_rows_of_rules():
    fires, _, row_weight, rng = random_fires(3)
    others = rng.random((5, len(row_weight))) < 0.3
    words, other_words = reference.bits(fires), reference.bits(others)
    assert np.allclose(_core.weighted_cover(words, row_weight), fires @ row_weight)
    overlap = _core.weighted_overlap(words, other_words, row_weight).reshape(len(fires), 5)
    assert np.allclose(overlap, (fires * row_weight) @ others.T)


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_columns_over_the_rows_of_rules(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(1, 200)), int(rng.integers(1, 7))
    holds = np.zeros((3, -(-n_rows // 64) * 64), dtype=bool)
    holds[:, :n_rows] = rng.random((3, n_rows)) < 0.4
    words = np.packbits(holds, axis=1, bitorder="little").view(np.uint64)
    values = rng.normal(size=(n_rows, n_columns))
    fired = [values[of_rule[:n_rows]] for of_rule in holds]
    sums = _core.column_sums(words, values).reshape(3, n_columns)
    assert sums == pytest.approx(np.array([rows.sum(axis=0) for rows in fired]))
    products = _core.product_sums(words, values).reshape(3, n_columns, n_columns)
    assert products == pytest.approx(np.array([rows.T @ rows for rows in fired]))


def test_sums_need_a_bit_per_row():
    for sums in (_core.column_sums, _core.product_sums):
        with pytest.raises(ValueError, match="one bit per row"):
            sums(np.zeros((1, 1), dtype=np.uint64), np.zeros((65, 2)))
