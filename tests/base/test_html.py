"""HTML for notebooks: text stays text, and tables have the cells that they were given."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from clausewise.base import html

HOSTILE = "<script>alert('1')</script> & \"quotes\""


def test_all_text_is_escaped():
    table = html.table([HOSTILE], [[HOSTILE], [html.Bar(HOSTILE, 0.5)]])
    made = html.block(HOSTILE, html.note(HOSTILE), html.warnings([HOSTILE]), table)
    texts = list(ElementTree.fromstring(made).itertext())
    assert texts == [HOSTILE, HOSTILE, f"Warning: {HOSTILE}", HOSTILE, HOSTILE, HOSTILE]


def test_numbers_are_aligned_to_the_right():
    made = html.table(["name", "rows"], [["a", "12"]], numbers=[1])
    assert re.findall(r"text-align:(\w+)[^>]*>(\w+)<", made) == [
        ("left", "name"),
        ("right", "rows"),
        ("left", "a"),
        ("right", "12"),
    ]


def test_a_table_without_names_has_no_line_for_them():
    assert "<th " not in html.table(["", ""], [["a", "b"]])


@pytest.mark.parametrize(("fraction", "end"), [(0.25, "25.0%"), (0.0, "0.0%"), (1.5, "100.0%"), (-1, "0.0%")])
def test_a_bar_ends_at_its_fraction(fraction, end):
    made = html.table([""], [[html.Bar("x", fraction)]])
    assert re.findall(r"([\d.]+%)", made) == [end, end]


def test_every_row_needs_a_cell_per_column():
    with pytest.raises(ValueError, match="zip"):
        html.table(["a", "b"], [["only one"]])
