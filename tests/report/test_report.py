"""`report` and `show`, of rule sets and of extractors."""

import json
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, C50Classifier, RuleSet
from tests.report import reports


def payload_in(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'clausewise-payload">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    network = MLPClassifier((6,), max_iter=2_000, random_state=0).fit(X, y)
    return ECLAIRE(network, random_state=0).fit(X), X, y


def test_the_rules_in_a_report_are_those_of_the_rule_file(tmp_path):
    rules = reports.rules()
    rules.report(tmp_path / "report.html", title="Who buys")
    rules.save(tmp_path / "rules.json")
    made = payload_in(tmp_path / "report.html")
    assert made["rules"] == json.loads((tmp_path / "rules.json").read_text(encoding="utf-8"))
    assert made["title"] == "Who buys"
    assert "rows" not in made


def test_a_report_can_be_given_a_path_as_text_and_replaces_the_old_file(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    reports.rules().report(str(path))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_report_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ValueError, match="y has shape"):
        reports.rules().report(path, reports.table(), ["no"])
    assert path.read_text(encoding="utf-8") == "old"


def test_labels_without_rows_are_refused(tmp_path):
    with pytest.raises(ValueError, match="y and network refer to rows; pass the rows as X"):
        reports.rules().report(tmp_path / "report.html", y=["no"])


def test_a_table_of_another_width_is_refused(tmp_path):
    with pytest.raises(ValueError, match="X has 2 columns, but the rules were learnt from 4"):
        reports.rules().report(tmp_path / "report.html", np.zeros((3, 2)))


def test_an_extractor_reports_its_rules_beside_its_network(fitted, tmp_path):
    model, X, y = fitted
    model.report(tmp_path / "report.html", X, y)
    made = payload_in(tmp_path / "report.html")
    assert made["measures"]["fidelity"] == model.fidelity(X)
    assert made["measures"]["network_accuracy"] == np.mean(model.network_.labels(X) == y)
    assert made["title"] == f"ECLAIRE: {len(model.rules_)} rules"
    assert len(made["rules"]["rules"]) == len(model.rules_)
    assert made["frontier"]["by"] == "conditions"
    assert made["frontier"]["fidelity"] == model.report_.sizes.fidelity.tolist()


def test_a_frontier_that_is_given_replaces_the_sizes_tried(fitted, tmp_path):
    model, X, _ = fitted
    curve = model.rules_.frontier(X, model.network_, max_rules=2)
    model.report(tmp_path / "report.html", frontier=curve)
    assert payload_in(tmp_path / "report.html")["frontier"]["budgets"] == [1, 2]


def test_an_extractor_reports_its_rules_without_rows(fitted, tmp_path):
    model, _, _ = fitted
    model.report(tmp_path / "report.html", title="Rules alone")
    assert "rows" not in payload_in(tmp_path / "report.html")


def test_an_extractor_that_is_not_fitted_has_nothing_to_report(tmp_path):
    with pytest.raises(NotFittedError):
        ECLAIRE().report(tmp_path / "report.html")


def test_a_network_can_be_given_as_it_is_or_as_its_labels(fitted, tmp_path):
    model, X, y = fitted
    model.rules_.report(tmp_path / "model.html", X, y, model.network)
    model.rules_.report(tmp_path / "network.html", X, y, model.network_)
    model.rules_.report(tmp_path / "labels.html", X, y, model.network_.labels(X).tolist())
    made = [payload_in(tmp_path / f"{name}.html") for name in ("model", "network", "labels")]
    assert made[0] == made[1]
    assert made[0]["rows"]["network"] == made[2]["rows"]["network"]
    assert "network_proba" not in made[2]["rows"]


def test_rules_of_other_learners_can_be_reported(tmp_path):
    X, (y, _) = reports.table(), reports.labels()
    rules = C50Classifier().fit(X, y).rules_
    rules.report(tmp_path / "report.html", X, y)
    assert payload_in(tmp_path / "report.html")["measures"]["accuracy"] == np.mean(rules.predict(X) == y)


def test_a_notebook_gets_a_frame_without_rights():
    shown = reports.rules().show(height=300)
    html = shown._repr_html_()
    assert html.startswith('<iframe sandbox="allow-scripts allow-downloads"')
    assert "height:300px" in html
    assert html.count("<") == 2  # the page itself is an attribute
    assert "<ReportView" not in repr(shown)
    assert len(repr(shown)) < 100


def test_the_light_form_of_a_rule_set_stays_as_it_is():
    html = reports.rules()._repr_html_()
    assert "7 rules for the classes" in html
    assert "<iframe" not in html


def test_what_show_gives_is_what_report_writes(tmp_path):
    truth, network = reports.labels()
    reports.rules().report(tmp_path / "report.html", reports.table(), truth, network)
    shown = reports.rules().show(reports.table(), truth, network)
    shown.save(tmp_path / "shown.html")
    assert (tmp_path / "shown.html").read_bytes() == (tmp_path / "report.html").read_bytes()
    assert shown.html == (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_report_of_no_rules_can_be_made(tmp_path):
    RuleSet.from_rules([], ["x"], default=0, classes=[0, 1]).report(tmp_path / "report.html", [[1.0]])
    assert payload_in(tmp_path / "report.html")["measures"]["n_uncovered"] == 1
