"""The validation page: complete, escaped, without scripts, and counted on fresh rows."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import clausewise
from clausewise import RegressionRule, RegressionRules, Rule, RuleSet, Term
from tests.report.conftest import check_accessibility

RULES = RuleSet.from_rules(
    [Rule((Term(0, low=0.5),), "yes"), Rule((Term(0, high=0.5),), "no")], ["x", "z"], default="no"
)


def rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.uniform(size=(n, 2)), columns=["x", "z"])
    return frame.assign(day=pd.date_range("2026-03-01", periods=n, freq="h"))


def network(frame):
    """Differ from the rules where z is above 0.9."""
    table = np.asarray(frame)
    return np.where((table[:, 0] > 0.5) ^ (table[:, 1] > 0.9), "yes", "no")


FRESH = rows()


def test_everything_that_a_validator_files_is_on_the_page():
    rules = RULES.remember_rows(rows(50, 9)[["x", "z"]])
    rules = rules.reweight(0, weight=2.0, note="agreed with risk", author="A. Auditor")
    found = rules.validate(
        FRESH, network, agreement=0.7, title="Credit 2026", sources={"model file": "m.onnx"}
    )
    page = found.to_html()
    for text in (
        "Credit 2026",
        "m.onnx",
        found.rules.headline,
        found.rules.digest,
        "1,500",
        found.rows.digest,
        "2026-03-01 00:00:00 to 2026-05-02 11:00:00",
        "checked against 50 learnt rows",
        found.guarantee.method,
        "fidelity on yes",
        found.promise.summary,
        "agreed with risk",
        "A. Auditor",
        f"<td>{clausewise.__version__}</td>",
    ):
        assert text in page.replace("&gt;", ">"), text
    assert found.guarantee.summary in str(found)


def test_failures_are_found_by_slice_in_words():
    found = RULES.validate(FRESH, network)
    assert found.n_differ == int((RULES.predict(FRESH) != network(FRESH[["x", "z"]])).sum())
    page = found.to_html()
    assert any("z &gt; 0.9" in cell or "z &gt; 0.8" in cell for cell in re.findall(r"<td>(.*?)</td>", page))


def test_learnt_rows_are_refused_or_left_out():
    rules = RULES.remember_rows(FRESH[:100])
    with pytest.raises(ValueError, match="100 of the 1,500 rows"):
        rules.validate(FRESH, network)
    found = rules.validate(FRESH, network, overlap="drop")
    assert (found.rows.n_given, found.rows.n_used) == (1500, 1400)
    assert found.guarantee.n_rows == found.evaluation.n_rows == 1400


def test_a_generator_draws_the_same_rows_of_groups_for_all_that_is_counted():
    found = RULES.validate(
        FRESH, network, groups=np.arange(1500) // 4, random_state=np.random.RandomState(0), agreement=0.5
    )
    whole = found.guarantee.whole
    assert whole.n_rows == 375
    assert found.n_differ == whole.n_rows - whole.n_agreeing > 0
    assert found.evaluation.fidelity == found.guarantee.fidelity.fraction


def test_the_same_rows_have_the_same_hash_and_others_do_not():
    one, same, other = (RULES.validate(frame, network) for frame in (FRESH, FRESH.copy(), rows(seed=1)))
    assert one.rows.digest == same.rows.digest != other.rows.digest
    assert one.to_html() == same.to_html()


def test_rules_for_numbers_are_validated_within_a_tolerance():
    rules = RegressionRules.from_rules([RegressionRule((Term(0, low=0.5),), 1.0)], ["x", "z"])
    found = rules.validate(FRESH, np.where(FRESH["x"] > 0.5, 1.2, 0.0), 0.1)
    assert found.n_differ == (FRESH["x"] > 0.5).sum()
    assert "within 0.1 of the network" in found.to_html()
    assert "They differ by more than 0.1 on" in found.to_html()


def test_abstaining_rules_show_their_own_promise():
    rules = RULES.with_voting("majority").abstaining(FRESH, network, 0.8)
    found = rules.validate(rows(seed=4), network)
    assert found.promise == rules.promised
    assert rules.promised.summary in found.to_html()


def test_an_agreement_that_cannot_be_promised_is_a_finding():
    found = RULES.validate(FRESH, network, agreement=0.999)
    assert found.promise is None
    assert "At no margin do the rules keep an agreement of 0.999" in found.refusal
    assert found.refusal in found.to_html()
    assert found.refusal in str(found)


def test_further_results_are_shown_as_html_or_as_text():
    class Certificate:
        def to_html(self):
            return "<b id='certificate'>proven</b>"

    page = RULES.validate(
        FRESH, network, results={"Certificate": Certificate(), "Challenge": "1 < 2"}
    ).to_html()
    assert "<h2>Certificate</h2><b id='certificate'>proven</b>" in page
    assert "<pre>1 &lt; 2</pre>" in page


def test_names_and_notes_cannot_add_markup(tmp_path):
    bad = "<script>alert(1)</script>"
    rules = RuleSet.from_rules([Rule((Term(0, low=0.5),), bad)], [bad, "z"], default="no")
    rules = rules.reweight(0, weight=3, note=bad, author=bad)
    frame = FRESH.rename(columns={"x": bad})
    answers = np.where(FRESH["x"] > 0.4, bad, "no")
    found = rules.validate(frame, answers, title=bad, model_name=bad, sources={bad: bad}, results={bad: bad})
    assert "<script" not in found.to_html()
    found.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == found.to_html()


def test_the_page_loads_nothing_and_is_accessible(browser, tmp_path):
    RULES.validate(FRESH, network).save(tmp_path / "page.html")
    page = browser.new_page(java_script_enabled=False)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    assert page.get_by_role("heading", level=1).inner_text() == "Validation of rules"
    assert len(requests) == 1
    page.close()
    scripted = browser.new_page(bypass_csp=True)
    scripted.goto((tmp_path / "page.html").as_uri())
    check_accessibility(scripted)
    scripted.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dates": "when"}, "no column 'when'"),
        ({"agreement": 2}, "agreement is 2"),
        ({"results": [1]}, "results is"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RULES.validate(FRESH, network, **options)


@pytest.mark.parametrize(
    ("dates", "period"),
    [
        (np.arange(1, 1501), ("1", "1500")),
        (FRESH["day"].astype("datetime64[ns]"), ("2026-03-01 00:00:00", "2026-05-02 11:00:00")),
        (["2026-03-31", "", "2025-12-01"] * 500, ("2025-12-01", "2026-03-31")),
    ],
)
def test_the_period_is_in_the_order_of_time(dates, period):
    assert RULES.validate(FRESH[["x", "z"]], network, dates=dates).rows.period == period


def test_dates_without_an_order_are_refused():
    with pytest.raises(ValueError, match="no order in time"):
        RULES.validate(FRESH, network, dates=["31.12.2025", "01.01.2026"] * 750)


def test_differences_of_abstaining_rules_are_about_decided_rows():
    tied = RuleSet.from_rules([*RULES, Rule((Term(1, low=0.9),), "yes")], ["x", "z"], default="no")
    rules = tied.with_voting("majority").abstaining(FRESH, network, 0.92)
    found = rules.validate(rows(seed=4), network)
    n_decided = int((rules.predict(rows(seed=4)[["x", "z"]]) != "abstains").sum())
    assert n_decided < 1500
    assert f"of {n_decided:,} rows that the rules decide (" in found.to_html()


def test_a_model_describes_itself():
    model = DecisionTreeClassifier(max_depth=2).fit(FRESH[["x", "z"]], network(FRESH[["x", "z"]]))
    assert "DecisionTreeClassifier" in RULES.validate(FRESH, model).to_html()
