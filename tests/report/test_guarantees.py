"""The page shows what is guaranteed, and abstains on the rows on which Python does."""

from dataclasses import replace

import numpy as np
import pytest

from clausewise import RegressionRule, RegressionRules, Term
from clausewise.report import ReportData, payload_of
from clausewise.report.number_payload import NumberReportData, number_payload_of
from clausewise.rules import Abstention
from clausewise.rules.abstention import margins
from clausewise.rules.voting import VOTINGS
from tests.report import reports
from tests.report.conftest import check_accessibility, view_tab
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw


def promised_rules():
    rules = reports.rules()
    return rules.with_guarantee(rules.guarantee(reports.table(300, 5), reports.labels(300, 5)[1]))


def test_the_guarantee_is_shown_with_every_interval(open_report, tmp_path):
    rules = promised_rules()
    rules.report(tmp_path / "report.html", reports.table(), None, reports.labels()[1])
    page = open_report(tmp_path / "report.html")
    card = page.locator("[aria-labelledby=guarantee]")
    assert rules.guaranteed.summary in card.inner_text().replace("\u00a0", " ")
    card.locator("summary").click()
    assert card.locator("tbody tr").count() == 1 + 3 + 7
    assert "precision of rule 6" in card.inner_text()
    check_accessibility(page)


def test_rows_that_are_fresh_give_the_report_its_guarantee():
    fresh, answers = reports.table(300, 5), reports.labels(300, 5)[1]
    rules = reports.rules().remember_rows(reports.table(50, 6))
    made = payload_of(rules, ReportData(rules, fresh, None, answers))
    assert made["guarantee"]["summary"] == rules.guarantee(fresh, answers).summary
    assert "on 300 fresh rows" in made["guarantee"]["summary"]
    assert "the rules were learnt from none of them" in made["guarantee"]["notes"][-1]


def test_a_guarantee_that_was_counted_for_another_network_is_not_taken_for_this_one():
    X, answers = reports.table(300, 5), reports.labels(300, 5)[1]
    others = np.roll(answers, 1)
    rules = promised_rules()
    shown = payload_of(rules, ReportData(rules, X, None, others))["guarantee"]
    assert shown["summary"].startswith(f"{rules.guaranteed.summary}, counted earlier; on the rows of this")
    assert "outside of the interval" in shown["notes"][-1]
    same = payload_of(rules, ReportData(rules, X, None, answers))["guarantee"]
    assert same["summary"] == f"{rules.guaranteed.summary}, counted earlier"
    fresh = rules.remember_rows(reports.table(50, 6))
    anew = payload_of(fresh, ReportData(fresh, X, None, others))["guarantee"]
    assert anew["summary"] == fresh.guarantee(X, others).summary != rules.guaranteed.summary


def test_a_guarantee_on_numbers_is_counted_anew_on_fresh_rows():
    rules = RegressionRules.from_rules([RegressionRule((Term(0, low=0.5),), 1.0)], ["x"])
    X = np.linspace(0, 1, 200)[:, None]
    rules = rules.with_guarantee(rules.guarantee(X, X[:, 0], 0.3))
    others = 5 * X[:, 0]
    shown = number_payload_of(rules, NumberReportData(rules, X, None, others))["guarantee"]
    assert "counted earlier; on the rows of this report, rules and network agree on 6.0 %" in shown["summary"]
    fresh = rules.remember_rows(X + 2)
    anew = number_payload_of(fresh, NumberReportData(fresh, X, None, others))["guarantee"]
    assert anew["summary"] == fresh.guarantee(X, others, 0.3).summary


@pytest.mark.parametrize("learnt", [None, slice(0, 1)])
def test_rows_that_may_have_been_learnt_from_promise_nothing(learnt):
    X, answers = reports.table(300, 5), reports.labels(300, 5)[1]
    rules = reports.rules()
    if learnt is not None:
        rules = rules.remember_rows(X[learnt])
    assert "guarantee" not in payload_of(rules, ReportData(rules, X, None, answers))


def test_without_the_network_a_report_promises_nothing():
    rules = reports.rules().remember_rows(reports.table(50, 6))
    assert "guarantee" not in payload_of(rules, ReportData(rules, reports.table(300, 5)))


def test_a_guarantee_is_not_about_edits(open_report, tmp_path):
    promised_rules().report(tmp_path / "report.html", reports.table())
    page = open_report(tmp_path / "report.html")
    page.evaluate("() => { const { store } = window.clausewise; const set = store.rules.value;"
                  " store.edit({ ...set, rules: set.rules.slice(1) }); }")  # fmt: skip
    assert "not about your edits" in page.locator("[aria-labelledby=guarantee]").inner_text()


def test_rules_for_numbers_show_their_guarantee(open_report, tmp_path):
    rules = RegressionRules.from_rules([RegressionRule((Term(0, low=0.5),), 1.0)], ["x"])
    X = np.linspace(0, 1, 200)[:, None]
    rules = rules.with_guarantee(rules.guarantee(X, X[:, 0], 0.3))
    rules.report(tmp_path / "report.html", X, None, X[:, 0])
    page = open_report(tmp_path / "report.html")
    assert "within 0.3" in page.locator("[aria-labelledby=guarantee]").inner_text()


@pytest.mark.parametrize("seed", range(6))
def test_the_browser_abstains_where_python_does(seed, open_report, tmp_path):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 4)
    rules = random_ruleset(rng, features, 25, voting=VOTINGS[seed % len(VOTINGS)])
    X = raw(features, random_table(rng, features, 200).encoded())
    lead = np.unique(margins(rules.scores(X)))
    rules = replace(rules, abstention=Abstention(float(lead[len(lead) // 2]), "none of these"))
    rules.report(tmp_path / "report.html", X)
    page = open_report(tmp_path / "report.html")
    expected = rules.predict(X)
    assert "none of these" in expected
    for ask in ("answers", "rowByRow"):
        found = page.evaluate(f"() => window.clausewise.{ask}()")
        assert np.array_equal(rules.outcomes[found["decisions"]], expected)


def test_a_row_without_a_clear_lead_is_shown_as_not_decided(open_report, tmp_path):
    rules = replace(reports.rules(), abstention=Abstention(600.0, "abstains"))
    rules.report(tmp_path / "report.html", reports.table(), None, reports.labels()[1], max_rows=None)
    page = open_report(tmp_path / "report.html")
    n_abstained = int((rules.predict(reports.table()) == "abstains").sum())
    assert f"on {n_abstained} of 400 rows" in page.locator(".abstentions").inner_text()
    row = int(np.flatnonzero(rules.predict(reports.table()) == "abstains")[0])
    page.evaluate(f"() => window.clausewise.store.select({{ kind: 'row', row: {row} }})")
    view_tab(page, "Predict")
    assert "The rules abstain" in page.locator(".verdict").inner_text()
    view_tab(page, "Rules")
    assert "abstains" in page.locator("dl.facts").first.inner_text()
    view_tab(page, "Overview")
    expected = rules.evaluate(reports.table(), network=reports.labels()[1]).fidelity
    assert f"on {100 * expected:.1f}\u00a0%" in page.locator(".headline").inner_text()
    check_accessibility(page)
