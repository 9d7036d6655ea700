"""Plots of rules for numbers draw the sum and the predictions."""

import matplotlib as mpl
import numpy as np
import pytest
from tests.rules.regression_cases import RULES, TABLE

from clausewise.plots import ParityDisplay, SumDisplay

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def test_a_waterfall_ends_at_the_sum():
    row = int(np.argmax(RULES.fires(TABLE).rules_per_row()))
    display = SumDisplay.from_rules(RULES, TABLE, row=row)
    explained = RULES.explain(TABLE)[row]
    assert sum(bar.get_width() for bar in display.ax_.patches) == pytest.approx(explained.total - RULES.base)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names[0] == "start: 2.07"
    assert names[-1].startswith("sum: ")
    assert len(names) == len(explained.parts) + 1
    assert display.ax_.get_xlabel() == "price"
    display.figure_.canvas.draw()


def test_a_waterfall_joins_what_it_does_not_draw():
    display = SumDisplay.from_rules(RULES, TABLE, row=0, max_parts=1)
    assert len(display.ax_.patches) == 2
    total = RULES.sums(TABLE)[0]
    assert sum(bar.get_width() for bar in display.ax_.patches) == pytest.approx(total - RULES.base)


def test_parity_is_drawn_with_its_measures():
    predicted = RULES.predict(TABLE)
    display = ParityDisplay.from_rules(RULES, TABLE, predicted + 0.5, target_name="truth")
    points = display.ax_.collections[0].get_offsets()
    assert points[:, 1].tolist() == predicted.tolist()
    assert points[:, 0].tolist() == (predicted + 0.5).tolist()
    assert "mean absolute error 0.5 on 60 rows" in display.ax_.get_title(loc="left")
    assert display.ax_.get_xlabel() == "truth (price)"
