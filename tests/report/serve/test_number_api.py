"""The API of a page of rules for numbers: answers of Python, and the refusals of the API for classes."""

import json

import numpy as np
import pytest

from clausewise import Features, RegressionRule, RegressionRules, RuleSet, Term
from clausewise.io.json import dumps
from clausewise.report import Explorer, NumberReportData, number_payload_of
from tests.report import number_reports
from tests.report.serve.client import MEASURES, PREDICT, ask, refusal, send

TABLE = number_reports.table()
TRUTH, NUMBERS = number_reports.numbers()


@pytest.fixture(scope="module")
def model():
    return number_reports.model()


@pytest.fixture(scope="module")
def explorer(model):
    with Explorer(number_reports.rules(), TABLE, TRUTH, model, max_rows=50) as started:
        yield started


def as_file(rules):
    return json.loads(dumps(rules))


def test_the_network_predicts_numbers_as_in_python(explorer, model):
    asked = [[3.5, 12, "valley", True], [None, None, "bay", False], {"number": 7, "changes": [[0, 9.25]]}]
    status, found = ask(explorer, PREDICT, {"rows": asked})
    rows = TABLE.iloc[[0, 1, 7]].assign(income=[3.5, np.nan, 9.25])
    rows.iloc[0, 1:], rows.iloc[1, 1:] = [12.0, "valley", True], [np.nan, "bay", False]
    assert status == 200
    assert found == {"numbers": pytest.approx(model.predict(rows).tolist())}


def test_edited_rules_have_the_measures_of_a_report(explorer, model):
    edited = number_reports.rules().reweight(1, addition=-0.5).remove(2)
    status, found = ask(explorer, MEASURES, {"rules": as_file(edited)})
    data = NumberReportData(edited, TABLE, TRUTH, model)
    assert status == 200
    assert found == number_payload_of(edited, data)["measures"]
    assert found["n_rows"] == len(TABLE)


def test_rules_over_the_same_columns_in_another_order_are_measured_too(explorer):
    features = Features(
        ("place", "income"), ("categorical", "numeric"), (number_reports.PLACES, None), named=True
    )
    other = RegressionRules.from_rules([RegressionRule((Term(1, low=5),), 1.5)], features, base=2)
    found = ask(explorer, MEASURES, {"rules": as_file(other)})[1]
    assert found["to_truth"]["r_squared"] == other.evaluate(TABLE, TRUTH).to_truth.r_squared


@pytest.mark.parametrize("change", [{"link": "log", "base": 5000.0}, {"base": 1e308}])
def test_errors_that_overflow_are_left_out(explorer, change):
    rules = as_file(number_reports.rules()) | change
    status, found = ask(explorer, MEASURES, {"rules": rules})
    assert status == 200
    assert found["to_network"]["r_squared"] is None
    assert found["to_truth"]["within"] == 0


def test_numbers_of_a_network_can_be_measured_but_not_asked():
    with Explorer(number_reports.rules(), TABLE, network=NUMBERS) as explorer:
        assert b'"has_network":false,"has_truth":false,"n_total":300' in send(explorer, "")[2]
        found = ask(explorer, MEASURES, {"rules": as_file(number_reports.rules())})[1]
        assert found["to_network"]["r_squared"] > 0.9
        assert found["to_truth"] is None
        assert refusal(send(explorer, PREDICT, '{"rows": [[1, 2, "bay", true]]}'))[0] == 409


@pytest.mark.parametrize(
    ("path", "request_", "status", "reason"),
    [
        (PREDICT, {"rows": [[1, 2, "bay"]]}, 400, "rows[0] has 3 values; expected 4, one per feature."),
        (PREDICT, {"rows": [["many", 2, "bay", 1]]}, 400, "expected a number, or null if it is missing"),
        (MEASURES, {"rules": {"format": "clausewise-rules"}}, 400, "rules"),
        (MEASURES, {}, 400, 'expected the key "rules" only'),
    ],
)
def test_wrong_requests_are_refused_with_a_reason(explorer, path, request_, status, reason):
    found = refusal(send(explorer, path, json.dumps(request_)))
    assert found[0] == status
    assert reason in found[1]


def test_rules_for_classes_are_not_measured_on_numbers(explorer):
    classes = RuleSet.from_rules([], number_reports.features(), default=0, classes=[0, 1])
    status, reason = refusal(send(explorer, MEASURES, json.dumps({"rules": as_file(classes)})))
    assert status == 400
    assert "these are rules for classes" in reason


def test_a_number_that_json_cannot_hold_is_refused():
    def answer(rows):
        return np.where(rows[:, 0] == 13, np.inf, rows[:, 0])

    rules = RegressionRules.from_rules([], ["x"], base=1)
    with Explorer(rules, [[1.0], [2.0]], network=answer) as explorer:
        assert ask(explorer, PREDICT, {"rows": [[5]]})[1] == {"numbers": [5.0]}
        status, reason = refusal(send(explorer, PREDICT, '{"rows": [[13]]}'))
        assert status == 400
        assert reason.startswith("The network cannot read these rows: ")
