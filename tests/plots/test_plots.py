"""Displays draw what was counted, and no name in the data breaks them."""

import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from tests.rules.three_rules import RULES, X

from clausewise import Frontier, Rule, RuleSet, Term, synthetic_rows
from clausewise.plots import (
    AgreementDisplay,
    ClassAgreementDisplay,
    CoverageDisplay,
    FailureMapDisplay,
    FeatureUseDisplay,
    FrontierDisplay,
    NearnessDisplay,
    RuleLengthDisplay,
    RuleMatrixDisplay,
    VotesDisplay,
    WaterfallDisplay,
)

mpl.use("Agg")
from matplotlib import pyplot as plt

TARGET = ["a", "a", "b", "a"]
FRONTIER = SimpleNamespace(budgets=[2, 4, 8, 16], fidelity=[0.8, 0.9, 0.92, 0.93], spread=[0.01] * 4, knee=4)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def all_displays(rules, X, target):
    return [
        VotesDisplay.from_rules(rules, X),
        FeatureUseDisplay.from_rules(rules),
        RuleLengthDisplay.from_rules(rules),
        CoverageDisplay.from_rules(rules, X),
        AgreementDisplay.from_rules(rules, X, target),
        WaterfallDisplay.from_rules(rules, X),
        RuleMatrixDisplay.from_rules(rules, X),
        FailureMapDisplay.from_rules(rules, X, target),
        ClassAgreementDisplay.from_rules(rules, X, target),
    ]


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def widths(ax):
    return [patch.get_width() for patch in ax.patches]


def test_votes_are_drawn_rule_by_rule():
    weighted = RULES.with_weights([1, -2, 3], base=[0, 0.5])
    display = VotesDisplay.from_rules(weighted, X, row=0)
    assert names(display.ax_) == ["start → b", "rule 1: size ≤ 2 AND age ≤ 0 → b", "rule 0: size ≤ 5 → a"]
    assert sorted(widths(display.ax_)) == [-2, 0.5, 1]
    assert display.ax_.get_title(loc="left") == "row 0 is a\ntotals: a 1, b -1.5"
    short = VotesDisplay.from_rules(weighted, X, row=0, max_rules=1)
    assert "1 rule with fewer votes not shown" in short.ax_.get_title(loc="left")


def test_a_row_on_which_nothing_fires_says_so():
    display = VotesDisplay.from_rules(RULES[:1], X, row=3)
    assert [text.get_text() for text in display.ax_.texts] == ["no rule fired"]


def test_a_waterfall_adds_the_votes_up_to_the_lead():
    weighted = RULES.with_weights([1, -2, 3], base=[0, 0.5])
    (why,) = weighted.explain(X[:1])
    display = WaterfallDisplay.from_rules(weighted, X, row=0)
    assert names(display.ax_) == ["start", "rule 0: size ≤ 5", "rule 1: size ≤ 2 AND age ≤ 0", "total"]
    # Votes for b count against the lead of a, and votes taken from b for it.
    assert widths(display.ax_) == [-0.5, 1, 2, 2.5]
    assert [patch.get_x() for patch in display.ax_.patches] == [0, -0.5, 0.5, 0]
    assert why.scores["a"] - why.scores["b"] == 2.5
    assert [text.get_text() for text in display.ax_.texts] == ["+0.5 b", "+1 a", "-2 b", "+2.5"]
    short = WaterfallDisplay.from_rules(weighted, X, row=0, max_rules=1)
    assert widths(short.ax_) == [-0.5, 2, 1, 2.5]
    assert names(short.ax_)[2] == "1 rule with fewer votes"


def test_a_matrix_draws_the_range_that_each_term_accepts():
    display = RuleMatrixDisplay.from_rules(RULES, [[0.0, 0.0], [10.0, 10.0]])
    assert names(display.ax_) == ["rule 0 → a", "rule 1 → b", "rule 2 → b"]
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["size", "age"]
    drawn = {
        (round(patch.get_y() + 0.13 - 0.16), int(patch.get_x())): (patch.get_x() % 1, patch.get_width())
        for patch in display.ax_.patches
        if patch.get_alpha() is None
    }
    assert drawn[0, 0] == pytest.approx((0.05, 0.9 * 0.5))  # size ≤ 5 of 0 to 10
    assert drawn[1, 0] == pytest.approx((0.05, 0.9 * 0.2))
    assert drawn[2, 1] == pytest.approx((0.05, 0.9))  # age > 0
    assert [text.get_text() for text in display.ax_.texts] == ["≤ 5", "≤ 2", "≤ 0", "> 0"]
    assert "2 of 3 rules" in RuleMatrixDisplay.from_rules(RULES, max_rules=2).ax_.get_title(loc="left")


def test_a_failure_map_draws_the_rates_of_the_bins():
    display = FailureMapDisplay.from_rules(RULES, X, TARGET)
    differs = RULES.predict(X) != np.array(TARGET)
    assert differs.any()
    for axes in display.ax_:
        column = ["size", "age"].index(axes.get_title())
        bins = [X[:, column] == value for value in np.unique(X[~np.isnan(X[:, column]), column])]
        bins += [np.isnan(X[:, column])] if np.isnan(X[:, column]).any() else []
        rates = [100 * differs[rows].mean() for rows in bins]
        assert [patch.get_height() for patch in axes.patches] == rates
        assert axes.lines[0].get_ydata()[0] == 100 * differs.mean()


def test_agreement_per_class_has_intervals_and_a_baseline():
    display = ClassAgreementDisplay.from_rules(RULES, X, TARGET)
    found = RULES.evaluate(X, network=TARGET)
    assert names(display.ax_) == [f"{one.label}  ({one.n_rows:,} rows)" for one in found.class_fidelity]
    assert widths(display.ax_) == [100 * one.fidelity for one in found.class_fidelity]
    dashed, dotted = (line.get_xdata()[0] for line in display.ax_.lines if line.get_linestyle() in "--:")
    assert (dashed, dotted) == (100 * found.fidelity, 100 * found.fidelity_baseline)
    with pytest.raises(ValueError, match="has no fidelity"):
        ClassAgreementDisplay(RULES.evaluate(X, TARGET))


def test_feature_use_is_a_percentage_of_all_rules_by_class():
    display = FeatureUseDisplay.from_rules(RULES)
    assert names(display.ax_) == ["size", "age"]
    assert widths(display.ax_) == pytest.approx([100 / 3, 200 / 3, 100 / 3, 0])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["b", "a"]
    assert FeatureUseDisplay.from_rules(RULES, max_features=1).ax_.get_title(loc="left") == (
        "features of 3 rules; 1 less used not shown"
    )


def test_lengths_are_counted_by_class():
    display = RuleLengthDisplay.from_rules(RULES)
    assert [(patch.get_x() + 0.4, patch.get_height()) for patch in display.ax_.patches] == [
        (1, 1),
        (2, 1),
        (1, 1),
        (2, 0),
    ]


def test_coverage_has_bars_and_overlaps():
    display = CoverageDisplay.from_rules(RULES, X)
    bars, overlap = display.ax_
    assert widths(bars) == [25, 0, 50, 25, 25, 0]
    np.testing.assert_array_equal(
        np.ma.filled(overlap.images[0].get_array(), -1), [[-1, 50, 0], [100, -1, 0], [0, 0, -1]]
    )
    assert names(CoverageDisplay.from_rules(RULES, X, max_rules=2).ax_[0]) == ["rule 0 → a", "rule 2 → b"]


def test_agreement_begins_with_the_rule_that_agrees_least():
    display = AgreementDisplay.from_rules(RULES, X, TARGET)
    assert names(display.ax_) == [
        "rule 1 → b  (1 rows)",
        "rule 2 → b  (2 rows)",
        "rule 0 → a  (2 rows)",
    ]
    np.testing.assert_array_equal(display.ax_.collections[1].get_offsets(), [[0, 0], [50, 1], [100, 2]])


@pytest.mark.parametrize("spread", [None, [0.01] * 4])
def test_a_frontier_marks_the_recommended_number_of_rules(spread):
    frontier = SimpleNamespace(**{**vars(FRONTIER), "spread": spread})
    display = FrontierDisplay.from_frontier(frontier)
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), [80, 90, 92, 93])
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend[-1] == "recommended: 4 rules, 90.0 %"
    assert ("spread" in legend) == (spread is not None)
    assert display.ax_.get_xlabel() == "rules"


def test_a_frontier_by_conditions_says_so():
    axes = Frontier(np.array([4, 9]), np.array([[0.8, 0.9]]), "conditions").plot().ax_
    assert axes.get_xlabel() == "conditions to read"
    assert axes.get_legend().get_texts()[-1].get_text() == "recommended: 9 conditions, 90.0 %"


def test_displays_draw_on_axes_that_are_given():
    figure, axes = plt.subplots(1, 5)
    for display in (VotesDisplay(RULES.explain(X)[0]), FeatureUseDisplay(RULES.explain_global())):
        assert display.plot(axes[0]).ax_ is axes[0]
        assert display.figure_ is figure
    assert CoverageDisplay.from_rules(RULES, X, ax=axes[1:3]).ax_[1] is axes[2]
    assert FrontierDisplay.from_frontier(FRONTIER, ax=axes[3]).ax_ is axes[3]
    assert AgreementDisplay.from_rules(RULES, X, TARGET, ax=axes[4]).figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_any_name_and_any_number_of_rules_can_be_drawn(tmp_path):
    labels = ["_hidden", "$x^$", "a" * 80, *(f"class {i}" for i in range(23))]
    columns = ["$\\frac{$", "_y", "b" * 200]
    rng = np.random.default_rng(0)
    many = RuleSet.from_rules(
        [
            Rule((Term(int(rng.integers(3)), low=float(rng.normal())),), labels[int(rng.integers(26))])
            for _ in range(90)
        ],
        columns,
        classes=labels,
        default="_hidden",
    )
    rows = rng.normal(size=(50, 3))
    for rules in (many, many[:1], many[:0]):
        for display in all_displays(rules, rows, rules.predict(rows)):
            display.figure_.savefig(tmp_path / "picture.png", dpi=40)
            plt.close(display.figure_)


def test_matplotlib_is_imported_only_for_drawing():
    code = "import sys, clausewise, clausewise.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "draw",
    [
        lambda: VotesDisplay.from_rules(RULES, X),
        lambda: FeatureUseDisplay.from_rules(RULES),
        lambda: RuleLengthDisplay.from_rules(RULES),
        lambda: CoverageDisplay.from_rules(RULES, X),
        lambda: AgreementDisplay.from_rules(RULES, X, TARGET),
        lambda: FrontierDisplay.from_frontier(FRONTIER),
        lambda: WaterfallDisplay.from_rules(RULES, X),
        lambda: RuleMatrixDisplay.from_rules(RULES, X),
        lambda: FailureMapDisplay.from_rules(RULES, X, TARGET),
        lambda: ClassAgreementDisplay.from_rules(RULES, X, TARGET),
    ],
)
def test_without_matplotlib_every_display_says_how_to_install_it(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install clausewise\[plots\]"):
        draw()


def test_nearness_shows_the_fraction_of_rows_up_to_each_distance():
    table = np.random.default_rng(0).normal(size=(60, 3))
    rows = synthetic_rows(table, per_row=2)
    display = rows.plot()
    assert isinstance(display, NearnessDisplay)
    real, generated = display.ax_.get_lines()
    assert len(real.get_xdata()) == 60
    assert len(generated.get_xdata()) == 120
    assert generated.get_ydata()[-1] == 100
    assert (np.diff(generated.get_xdata()) >= 0).all()
