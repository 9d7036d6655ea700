"""The log of an extraction."""

import re
import time

import numpy as np

from clausewise import ECLAIRE
from clausewise.extractors.run_log import RunLog
from clausewise.networks import ArrayNetwork


def test_times_of_a_stage_add_up():
    log = RunLog()
    for _ in range(2):
        with log.stage("sleeping"):
            time.sleep(0.02)
    stage = log.stages["sleeping"]
    assert stage.seconds >= 0.04
    assert stage.cpu_seconds < stage.seconds


def test_a_notebook_shows_layers_and_stages_with_names_left_and_numbers_right():
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=shape) for shape in ((3, 4), (4, 2))]
    network = ArrayNetwork(weights, [np.zeros(4), np.zeros(2)])
    report = ECLAIRE(network, min_cases=5, max_rules=None).fit(rng.normal(size=(200, 3))).report_
    tables = re.findall(r"<table.*?</table>", report._repr_html_(), flags=re.DOTALL)
    assert len(tables) == 2
    for table, parts in zip(tables, (report.layers, report.stages), strict=True):
        rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], flags=re.DOTALL)
        assert len(rows) == len(parts)
        for row, part in zip(rows, parts, strict=True):
            sides = re.findall(r"<td style='[^']*text-align:(left|right)[^']*'>", row)
            assert part.name in row
            assert sides[0] == "left"
            assert set(sides[1:5]) == {"right"}
