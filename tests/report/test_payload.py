"""What a report holds: packed rows, labels, measures, histograms."""

import base64
import json
import re

import numpy as np
import pytest

from clausewise import Features, Frontier, Rule, RuleSet, Term
from clausewise.report import ReportData, page, payload_of
from clausewise.report.histograms import N_BINS, histogram_of
from clausewise.report.packing import pack_codes, pack_column, pack_numbers
from tests.report import reports


def unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=f"<{packed['type']}")


def column_of(entry):
    values = unpacked(entry["values"])
    return values if entry["encoding"] == "plain" else values[unpacked(entry["codes"])]


def small_payload(**options):
    truth, network = reports.labels()
    return payload_of(
        reports.rules(), ReportData(reports.rules(), reports.table(), truth, network), **options
    )


# --- Packing ---


@pytest.mark.parametrize(("largest", "name"), [(0, "u1"), (255, "u1"), (256, "u2"), (65_536, "u4")])
def test_codes_take_the_smallest_type_that_holds_them(largest, name):
    packed = pack_codes(np.array([0, largest]))
    assert packed["type"] == name
    assert unpacked(packed).tolist() == [0, largest]


def test_numbers_are_packed_without_loss():
    for numbers, name in (([0.5, np.nan, -np.inf], "f4"), ([0.1, 1e300], "f8"), ([0.5, 1e-320], "f8")):
        packed = pack_numbers(np.array(numbers))
        assert packed["type"] == name
        assert np.array_equal(unpacked(packed), np.array(numbers), equal_nan=True)


@pytest.mark.parametrize("n_distinct", [1, 3, 1_000])
def test_a_column_comes_back_as_it_was(n_distinct):
    rng = np.random.default_rng(0)
    column = np.resize(rng.normal(size=n_distinct), 1_000)
    column[3:100:7] = np.nan
    entry = pack_column(column)
    assert entry["encoding"] == ("plain" if n_distinct == 1_000 else "dictionary")
    assert np.array_equal(column_of(entry), column, equal_nan=True)


def test_the_values_of_a_dictionary_ascend_with_nan_last():
    entry = pack_column(np.array([2.0, np.nan, -np.inf, 2.0, np.nan, np.inf] * 4))
    assert np.array_equal(unpacked(entry["values"]), [-np.inf, 2.0, np.inf, np.nan], equal_nan=True)


# --- Rows ---


def test_the_sample_is_drawn_in_proportion_and_says_of_how_many():
    payload = small_payload(max_rows=100)
    rows = payload["rows"]
    truth, _ = reports.labels()
    drawn = unpacked(rows["numbers"])
    assert (rows["n_shown"], rows["n_total"], len(drawn)) == (100, 400, 100)
    for label in reports.CLASSES:
        assert abs(np.mean(truth[drawn] == label) - np.mean(truth == label)) <= 0.01
    assert [reports.CLASSES[code] for code in unpacked(rows["truth"]["codes"])] == truth[drawn].tolist()


def test_the_same_arguments_give_the_same_report_and_another_seed_other_rows():
    assert page(small_payload(max_rows=50)) == page(small_payload(max_rows=50))
    one, other = small_payload(max_rows=50), small_payload(max_rows=50, random_state=1)
    assert one["rows"]["numbers"] != other["rows"]["numbers"]
    assert other["rows"]["seed"] == 1


def test_all_rows_are_taken_where_no_limit_is_given():
    assert small_payload(max_rows=None)["rows"]["n_shown"] == 400
    assert small_payload(max_rows=0.25)["rows"]["n_shown"] == 100


def test_rows_are_encoded_as_the_rules_read_them():
    rows = small_payload(max_rows=None)["rows"]
    matrix = reports.features().encode(reports.table())
    for feature, entry in enumerate(rows["columns"]):
        assert np.array_equal(column_of(entry), matrix[:, feature], equal_nan=True)


def test_wide_tables_keep_the_columns_that_rules_test(monkeypatch):
    from clausewise.report import payload

    rng = np.random.default_rng(0)
    monkeypatch.setattr(payload, "MAX_UNTESTED_BYTES", 3 * 8 * 20)
    rules = RuleSet.from_rules(
        [Rule((Term(7, high=0.5),), 1)], [f"g{i}" for i in range(10)], default=0, classes=[0, 1]
    )
    made = payload_of(rules, ReportData(rules, rng.random((20, 10))))
    there = [entry is not None for entry in made["rows"]["columns"]]
    assert there == [True, True, True, False, False, False, False, True, False, False]


# --- Labels and networks ---


def test_labels_that_rules_do_not_know_come_behind_the_classes():
    truth, network = reports.labels()
    truth = truth.astype(object)
    truth[[3, 5]] = "never"
    made = payload_of(
        reports.rules(),
        ReportData(reports.rules(), reports.table(), truth, network),
        max_rows=None,
    )
    assert made["rows"]["truth"]["extra"] == ["never"]
    assert unpacked(made["rows"]["truth"]["codes"])[[3, 5]].tolist() == [3, 3]
    of_truth = next(one for one in made["confusion"] if (one["rows"], one["columns"]) == ("truth", "rules"))
    assert np.shape(of_truth["counts"]) == (4, 3)
    assert np.sum(of_truth["counts"][3]) == 2


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["no"] * 3, r"y has shape \(3,\) for 400 rows; pass one label per row"),
        ([1] * 400, "y holds 1, which is not among the classes 'no', 'yes', 'perhaps'"),
        (["no"] * 399 + [None], "y has 1 missing label"),
        (np.full((400, 1), "no"), r"y has shape \(400, 1\)"),
    ],
)
def test_labels_of_another_kind_or_number_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ReportData(reports.rules(), reports.table(), y)


@pytest.mark.parametrize("y", [[1, 0], [1.0, 0.0], [True, False], ["1", "0"]])
def test_labels_are_read_as_the_classes_that_they_mean(y):
    rules = RuleSet.from_rules([Rule((Term(0, high=0),), 1)], ["x"], default=0, classes=[0, 1])
    assert ReportData(rules, [[0.0], [1.0]], y).truth.codes.tolist() == [1, 0]


def test_a_network_is_asked_for_labels_and_probabilities():
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    model = MLPClassifier((4,), max_iter=2_000, random_state=0).fit(X, y)
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=0),), "b")], ["u", "v"], default="a", classes=["b", "a", "c"]
    )
    rows = payload_of(rules, ReportData(rules, X, y, model), max_rows=50)["rows"]
    drawn = unpacked(rows["numbers"])
    assert (
        np.array(["b", "a", "c"])[unpacked(rows["network"]["codes"])].tolist()
        == model.predict(X[drawn]).tolist()
    )
    proba = unpacked(rows["network_proba"]).reshape(50, 3)
    assert np.allclose(proba[:, :2], model.predict_proba(X[drawn])[:, ::-1], atol=1e-6)
    assert (proba[:, 2] == 0).all()


# --- Measures ---


def test_measures_are_those_of_all_rows():
    truth, network = reports.labels()
    found = reports.rules().evaluate(reports.table(), truth, network=network)
    measures = small_payload(max_rows=50)["measures"]
    same = ("fidelity", "fidelity_baseline", "kappa", "accuracy", "accuracy_baseline", "balanced_accuracy")
    for name in (*same, "auc", "coverage", "overlap", "conflict", "reading_cost"):
        assert measures[name] == getattr(found, name)
    assert measures["fidelity_interval"] == list(found.fidelity_interval)
    assert measures["class_fidelity"] == [
        {"label": one.label, "n_rows": one.n_rows, "fidelity": one.fidelity, "interval": list(one.interval)}
        for one in found.class_fidelity
    ]
    assert measures["network_accuracy"] == np.mean(truth == network)
    assert measures["n_uncovered"] == reports.rules().uncovered(reports.table()).sum()


def test_measures_that_need_labels_are_left_out_without_them():
    rules = reports.rules()
    alone = payload_of(rules, ReportData(rules, reports.table()))
    assert alone["measures"]["fidelity"] is None
    for name in ("fidelity_interval", "fidelity_baseline", "kappa", "accuracy", "accuracy_baseline", "auc"):
        assert alone["measures"][name] is None
    assert alone["measures"]["class_fidelity"] == []
    assert alone["confusion"] == []
    _, network = reports.labels()
    beside = payload_of(rules, ReportData(rules, reports.table(), network=network))
    assert beside["measures"]["fidelity"] == np.mean(rules.predict(reports.table()) == network)
    assert beside["measures"]["accuracy"] is None


def test_confusion_counts_who_says_what():
    truth, network = reports.labels()
    decided = reports.rules().predict(reports.table())
    judges = {"truth": truth, "network": network, "rules": decided}
    found = small_payload(max_rows=10)["confusion"]
    assert len(found) == 3
    for one in found:
        for i, a in enumerate(reports.CLASSES):
            for j, b in enumerate(reports.CLASSES):
                expected = np.sum((judges[one["rows"]] == a) & (judges[one["columns"]] == b))
                assert one["counts"][i][j] == expected


# --- Histograms ---


def test_every_row_is_in_a_bin():
    rng = np.random.default_rng(0)
    column = np.append(rng.normal(size=500), [np.nan, np.nan, 1e30])
    found = histogram_of(column, "numeric", None)
    assert sum(found["counts"]) == 501
    assert found["n_missing"] == 2
    assert found["max"] == 1e30
    assert found["high"] < 10  # one far value does not squeeze the others


@pytest.mark.parametrize(
    "column",
    [[], [np.nan], [np.inf, -np.inf], [3.0, 3.0], [-1.7e308, 1.7e308], [0.0, 5e-324]],
    ids=["empty", "missing", "infinite", "constant", "whole range", "tiny range"],
)
def test_odd_columns_have_a_histogram_too(column):
    found = histogram_of(np.array(column), "numeric", None)
    assert found["low"] < found["high"]
    assert sum(found["counts"]) == np.isfinite(column).sum()
    json.dumps(found, allow_nan=False)


def test_few_whole_numbers_have_a_bin_each():
    found = histogram_of(np.array([1.0, 1.0, 2.0, 4.0]), "numeric", None)
    assert (found["low"], found["high"], found["counts"]) == (0.5, 4.5, [2, 1, 0, 1])
    assert len(histogram_of(np.arange(1_000.0), "numeric", None)["counts"]) == N_BINS


def test_categories_are_counted_with_those_that_nobody_knows():
    found = histogram_of(np.array([0.0, 2.0, 2.0, 3.0, np.nan]), "categorical", ("a", "b", "c"))
    assert found == {"kind": "categories", "counts": [1, 0, 2], "n_unknown": 1, "n_missing": 1}


# --- The page ---


def test_the_payload_in_a_page_reads_back():
    made = small_payload(title="</script>")
    text = page(made)
    found = re.search(
        r'<script type="application/json" id="clausewise-payload">(.*?)</script>', text, re.DOTALL
    )
    assert json.loads(found[1]) == made
    assert "<title>&lt;/script&gt;</title>" in text


def test_half_a_surrogate_pair_does_not_break_the_page():
    rules = RuleSet.from_rules([Rule((Term(0, high=0),), "\ud800")], ["\udfff"], default="\ud800")
    text = rules.show(title="\ud800").html
    assert "\\ud800" in text
    text.encode("utf-8")


def test_only_served_pages_may_ask_their_server():
    assert "connect-src &#x27;none&#x27;" in page(small_payload())
    served = small_payload(served={"api": "api/", "has_network": False, "n_total": 400})
    assert "connect-src &#x27;self&#x27;" in page(served)


def test_the_frontier_is_kept():
    budgets, by_split = np.array([1, 2]), np.array([[0.5, 0.75]])
    made = payload_of(reports.rules(), frontier=Frontier(budgets, by_split))
    common = {"budgets": [1, 2], "fidelity": [0.5, 0.75], "spread": [0.0, 0.0], "knee": 2}
    assert made["frontier"] == {"by": "rules", "n_rules": None, "reading_cost": None, **common}
    sizes = Frontier(budgets, by_split, "conditions", np.array([[1, 1]]), np.array([[1, 2]]))
    made = payload_of(reports.rules(), frontier=sizes)
    assert made["frontier"] == {"by": "conditions", "n_rules": [1, 1], "reading_cost": [1, 2], **common}


def test_numbers_that_a_browser_would_round_are_refused():
    rules = RuleSet.from_rules([], ["x"], default=2**60, classes=[0, 2**60])
    with pytest.raises(ValueError, match=f"{2**60} is too large a number for a browser"):
        payload_of(rules)
    known = Features(("x",), ("categorical",), ((0, 2**53 + 1),))
    with pytest.raises(ValueError, match="too large a number for a browser"):
        payload_of(RuleSet.from_rules([], known, default=0, classes=[0, 1]))


@pytest.mark.parametrize("seed", [None, 1.5, True, np.random.RandomState(0)])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match=r"random_state is .*; expected a whole number from 0 to 4294967295"):
        small_payload(random_state=seed)


def test_a_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="X has no rows; pass at least one, or leave X out"):
        ReportData(reports.rules(), reports.table().iloc[:0])
