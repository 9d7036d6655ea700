"""Tables in bins, and sets of bins as terms of rules."""

import numpy as np
import pytest

from clausewise import Features, Rule, RuleRegressor, RuleSet, Term, extract
from clausewise.compact.bins import Bins, bin_set, bins_in, packed, unpacked


def learn(columns, max_bins=None, categories=None):
    names = tuple(f"x{i}" for i in range(len(columns)))
    kinds = tuple("numeric" if categories is None else "categorical" for _ in columns)
    values = tuple(None if categories is None else tuple(range(categories)) for _ in columns)
    return Bins.learn(np.column_stack(columns).astype(float), Features(names, kinds, values), max_bins)


def rows_in(bins, accepted, n_rows):
    words = bins.covered([((0, bin_set(accepted)),)])
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")[:n_rows]).tolist()


def test_as_many_values_as_bins_have_a_bin_each():
    # The first value is so frequent that bins of equally many rows would join others.
    column = learn([[0.0] * 20 + [1.0, 2.0, 3.0]], max_bins=4).columns[0]
    assert column.last.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert column.following.tolist() == [1.0, 2.0, 3.0, np.inf]


def test_one_value_more_than_bins_is_put_into_bins_of_equally_many_rows():
    column = learn([np.arange(5)], max_bins=4).columns[0]
    assert column.n_bins == 4
    assert column.last[-1] == 4.0
    column = learn([np.arange(1000)], max_bins=4).columns[0]
    # Borders move by up to a third of a bin to a round number.
    assert column.last.tolist() == [200.0, 500.0, 700.0, 999.0]
    assert column.last[-1] == 999.0
    assert column.following[-1] == np.inf


@pytest.mark.parametrize(
    ("n_columns", "n_values", "n_bins"), [(200, 128, 128), (200, 129, 128), (201, 32, 32), (201, 33, 32)]
)
def test_tables_of_many_columns_have_fewer_bins(n_columns, n_values, n_bins):
    columns = learn([np.arange(n_values)] * n_columns).columns
    assert {column.n_bins for column in columns} == {n_bins}


def test_every_row_is_in_its_bin_and_missing_values_are_in_none():
    bins = learn([[3.0, np.nan, 1.0, 2.0, 3.0]])
    assert [rows_in(bins, [b], 5) for b in range(3)] == [[2], [3], [0, 4]]
    assert rows_in(bins, [0, 1, 2], 5) == [0, 2, 3, 4]


def test_as_many_categories_as_fit_have_a_bin_each_and_of_more_the_rarest_has_none():
    codes = np.arange(254)
    assert learn([codes], categories=254).columns[0].codes.tolist() == codes.tolist()
    often = np.delete(np.arange(255), 100)
    bins = learn([np.concatenate([np.arange(255), often])], categories=255)
    assert bins.columns[0].codes.tolist() == often.tolist()
    assert rows_in(bins, range(254), 509) == [row for row in range(509) if row != 100]
    assert rows_in(bins, [253], 509) == [254, 508]


def test_unknown_categories_are_in_no_bin():
    bins = learn([[0, 2, 3, np.nan, 2]], categories=3)  # 3 is the code of any unknown category
    assert bins.columns[0].codes.tolist() == [0, 2]
    assert [rows_in(bins, [b], 5) for b in range(2)] == [[0], [1, 4]]
    nothing = learn([[np.nan, 3]], categories=3)
    assert nothing.columns[0].n_bins == 0


@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 1), (0, 2), (2, 3), (3, 3), (0, 3)])
def test_bins_become_intervals_that_are_open_beyond_the_first_and_the_last_bin(first, last):
    values = np.array([[10.0], [20.0], [30.0], [40.0]])
    terms = learn([values]).terms_of([((0, bin_set(range(first, last + 1))),)])
    assert np.isinf(terms["low"][0]) == (first == 0)
    assert np.isinf(terms["high"][0]) == (last == 3)
    rules = RuleSet.from_arrays(["x0"], ["a", "b"], "b", class_index=[0], **terms)
    assert rules.fires(values).dense()[0].tolist() == [first <= b <= last for b in range(4)]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-np.inf, np.inf, [0, 1, 2]),
        (-np.inf, 1.0, [0]),
        (-np.inf, 1.5, [0]),
        (-np.inf, 2.0, [0, 1]),
        (1.0, np.inf, [1, 2]),
        (0.5, np.inf, [0, 1, 2]),
        (2.0, np.inf, [2]),
        (1.0, 2.0, [1]),
        (3.0, np.inf, [2]),  # at least one bin
        (9.0, np.inf, [2]),
        (1.2, 1.4, [1]),
        (-np.inf, 0.0, [0]),
    ],
)
def test_intervals_become_the_bins_that_they_cover(low, high, expected):
    column = learn([[1.0, 2.0, 3.0]]).columns[0]
    assert bins_in(column.bins_between(low, high)) == expected


def test_the_premises_of_rules_become_boxes():
    features = Features(
        ("x", "job", "y"), ("numeric", "categorical", "numeric"), (None, ("a", "b", "c"), None)
    )
    table = np.array([[1.0, 0.0, np.nan], [2.0, 2.0, np.nan], [3.0, 0.0, np.nan]])
    bins = Bins.learn(table, features)
    rules = RuleSet.from_rules(
        [
            Rule((Term(0, high=2.5), Term(1, values=["b", "c"])), "yes"),
            Rule((), "yes"),
            Rule((Term(1, values=["a"]), Term(2, low=0.0)), "yes"),  # all of y is missing
        ],
        features,
        default="no",
    )
    assert bins.boxes_of(rules) == [((0, bin_set([0, 1])), (1, bin_set([1]))), (), ((1, bin_set([0])),)]


def test_boxes_become_the_premises_that_they_come_from():
    features = Features(
        ("x", "job", "y"), ("numeric", "categorical", "numeric"), (None, ("a", "b", "c"), None)
    )
    table = np.array([[1.0, 0.0, np.nan], [2.0, 2.0, 5.0], [np.nan, 1.0, 7.0], [4.0, 0.0, 9.0]])
    bins = Bins.learn(table, features)
    premises = [
        (Term(0, missing=True), Term(1, values=["b"]), Term(2, high=bins.columns[2].threshold(0))),
        (Term(0, low=bins.columns[0].threshold(0)), Term(2, missing=True)),
        (),
    ]
    rules = RuleSet.from_rules([Rule(terms, "yes") for terms in premises], features, default="no")
    terms = bins.terms_of(bins.boxes_of(rules))
    stored = rules.columns
    assert terms["starts"].tolist() == stored.starts.tolist() == [0, 3, 5, 5]
    for name in ("feature", "low", "high", "missing"):
        np.testing.assert_array_equal(terms[name], getattr(stored, name))
    assert [terms["value_sets"][place] for place in terms["value_set"] if place >= 0] == [[1]]


def test_sets_of_bins_hold_any_bin():
    for bins in ([], [0], [63, 64], [127, 128], [191, 192], [253, 255], list(range(256))):
        assert bins_in(bin_set(bins)) == bins
    assert bin_set([0, 65, 130, 195]) == (1, 2, 4, 8)


def test_boxes_are_unpacked_as_they_were_packed():
    boxes = [((0, bin_set([3, 200])), (7, bin_set([64]))), (), ((2, bin_set([255])),)]
    assert unpacked(*packed(boxes)) == boxes


def test_too_many_rows_to_search_on_are_referred_to_partitions(monkeypatch):
    monkeypatch.setattr("clausewise.compact.bins.MAX_ROWS", 30)
    X = np.arange(40.0)[:, None]
    message = "There are 40 rows, and rules are searched for on at most 30 at once; pass clausewise.part"
    rules = extract(X[:20, 0] > 9, X[:20], max_rules=2)
    for call in (
        lambda: extract(X[:, 0] > 20, X, max_rules=2),
        lambda: rules.compact(X, X[:, 0] > 20, max_rules=1),
        lambda: RuleRegressor(max_rules=2).fit(X, X[:, 0] * 1.5),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert len(extract(X[:, 0] > 20, X, max_rules=None)) > 0
