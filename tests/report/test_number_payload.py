"""Payloads of reports on rules for numbers: valid, complete, and refused where the input is wrong."""

import base64
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from referencing import Registry, Resource

from clausewise import RegressionRules, RuleSet
from clausewise.report import Explorer, NumberReportData, number_payload_of
from tests.report import number_reports


def read(folder, name):
    return json.loads(files(f"clausewise.{folder}").joinpath(name).read_text(encoding="utf-8"))


SCHEMAS = [
    read("io", "rules.schema.json"),
    read("io", "numbers.schema.json"),
    read("report", "payload.schema.json"),
]
VALIDATOR = jsonschema.Draft202012Validator(
    read("report", "number_payload.schema.json"),
    registry=Registry().with_resources(
        [(schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS]
    ),
)


@pytest.fixture(scope="module")
def data():
    truth, network = number_reports.numbers()
    return NumberReportData(number_reports.rules(), number_reports.table(), truth, network)


def unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=f"<{packed['type']}")


def test_payloads_satisfy_the_schema(data):
    rules = data.rules
    payloads = [
        number_payload_of(
            rules,
            data,
            frontier=number_reports.curve(),
            compare={"half": rules[:2]},
            labels={"bay": "the bay"},
            max_rows=50,
            served={"api": "api/", "has_network": True, "has_truth": False, "n_total": 300},
        ),
        number_payload_of(rules, NumberReportData(rules, number_reports.table())),
        number_payload_of(number_reports.rules(link="log", response=None)),
    ]
    edits = {"rules": payloads[0]["rules"], "ids": [0, 1, 2, 3, 4]}
    payloads.append(payloads[0] | {"edits": edits})
    for payload in payloads:
        VALIDATOR.validate(json.loads(json.dumps(payload, allow_nan=False)))
    broken = payloads[0] | {"kind": "classes"}
    assert not VALIDATOR.is_valid(broken)


def test_a_payload_has_the_measures_of_all_rows_and_a_sample(data):
    payload = number_payload_of(data.rules, data, max_rows=50)
    measured = data.rules.evaluate(number_reports.table(), data.truth, network=data.answers)
    assert payload["measures"]["n_rows"] == 300
    assert payload["measures"]["to_network"]["r_squared"] == measured.to_network.r_squared
    assert payload["measures"]["to_truth"]["mean_absolute"] == measured.to_truth.mean_absolute
    rows = payload["rows"]
    chosen = unpacked(rows["numbers"])
    assert rows["n_shown"] == len(chosen) == 50
    assert unpacked(rows["network"]).tolist() == data.answers[chosen].tolist()
    assert unpacked(rows["truth"]).tolist() == data.truth[chosen].tolist()
    # Drawn in proportion to ranges of the numbers: about as spread out as all of them.
    spread = np.quantile(data.answers[chosen], [0.1, 0.5, 0.9]) - np.quantile(data.answers, [0.1, 0.5, 0.9])
    assert np.abs(spread).max() < 0.2 * data.answers.std()


def test_columns_with_a_coefficient_are_never_left_out(data, monkeypatch):
    from clausewise.report import payload

    monkeypatch.setattr(payload, "MAX_UNTESTED_BYTES", 0)
    rules = RegressionRules.from_rules([], number_reports.features(), linear={"income": 2.0})
    columns = number_payload_of(rules, NumberReportData(rules, number_reports.table()))["rows"]["columns"]
    assert [column is None for column in columns] == [False, True, True, True]


def test_equal_numbers_have_no_explained_fraction():
    rules, table = number_reports.rules(), number_reports.table(20)
    payload = number_payload_of(rules, NumberReportData(rules, table, np.ones(20)))
    assert payload["measures"]["to_truth"]["r_squared"] is None
    assert payload["measures"]["to_network"] is None


def test_wrong_arguments_are_explained(tmp_path):
    rules, table = number_reports.rules(), number_reports.table(20)
    path = tmp_path / "page.html"
    with pytest.raises(ValueError, match="target and network refer to rows"):
        rules.report(path, target=np.ones(20))
    with pytest.raises(ValueError, match="no rows"):
        rules.report(path, table[:0])
    with pytest.raises(ValueError, match="labels names 'mars', which is not a column or a category"):
        rules.report(path, labels={"mars": "Mars"})
    with pytest.raises(ValueError, match="max_rows"):
        rules.report(path, table, max_rows=-1)
    with pytest.raises(TypeError, match="colors is not an option of pages of rules for numbers"):
        Explorer(rules, table, colors={"a": "#000000"})
    with pytest.raises(TypeError, match=r"compare\['old'\] is a RuleSet; pass a RegressionRules"):
        rules.report(path, compare={"old": RuleSet.from_rules([], ["x"], default=0, classes=[0, 1])})
    assert not path.exists()


def test_the_same_arguments_give_the_same_file(tmp_path):
    truth, network = number_reports.numbers()
    pages = [tmp_path / name for name in ("a.html", "b.html")]
    for path in pages:
        number_reports.rules().report(path, number_reports.table(), truth, network, max_rows=100)
    assert pages[0].read_bytes() == pages[1].read_bytes()
