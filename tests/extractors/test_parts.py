"""The parts of an extraction: dropping clauses, drawing rows, the path of min_cases, progress."""

import contextlib
import io
import time

import numpy as np
import pytest

from clausewise import Rule, RuleSet, Term
from clausewise.base.progress import Progress
from clausewise.data.rows import row_limit, stratified_rows
from clausewise.extractors.dropping import Dropping
from clausewise.extractors.min_cases import min_cases_path
from clausewise.extractors.run_log import ReportBuilder


def clauses():
    """Six clauses of two classes: (conclusion, cover, correct, number of terms)."""
    listed = [
        ("a", 10, 10, 1),
        ("a", 100, 90, 1),
        ("a", 4, 2, 2),
        ("b", 50, 50, 3),
        ("b", 8, 4, 1),
        ("b", 2, 2, 1),
    ]
    rules = [
        Rule(tuple(Term(f, low=n) for f in range(length)), label, (ok + 1) / (cover + 2), cover, ok)
        for n, (label, cover, ok, length) in enumerate(listed)
    ]
    return RuleSet.from_rules(rules, ["x", "y", "z"], default="a")


def kept(**options):
    whole = list(clauses())
    return [whole.index(rule) for rule in Dropping(**options).kept(clauses())]


def test_nothing_is_dropped_unless_asked():
    assert kept() == [0, 1, 2, 3, 4, 5]


def test_the_lowest_ranks_are_dropped_of_all_clauses():
    assert kept(lowest=0.34) == [0, 1, 3, 5]


def test_the_lowest_ranks_are_dropped_of_each_class():
    assert kept(lowest=0.34, per_class=True) == [0, 1, 3, 5]
    assert kept(lowest=0.67, per_class=True) == [0, 3]
    assert kept(lowest=0.67) == [0, 3]


def test_ranks_may_be_by_accuracy_or_by_the_hill_climbing_score():
    assert kept(max_rules=3, ranking="accuracy") == [0, 3, 5]
    assert kept(max_rules=3, ranking="hill_climbing") == [0, 1, 3]


def test_at_least_one_clause_stays_whatever_part_is_dropped():
    assert kept(lowest=0.999) == [3]


def test_a_least_confidence_may_leave_nothing():
    assert kept(min_confidence=0.9) == [0, 3]
    assert kept(min_confidence=0.999) == []


def test_rows_are_drawn_of_each_class_in_proportion():
    codes = np.repeat([0, 1, 2], [700, 290, 10]).astype(np.int32)
    rows = stratified_rows(codes, 100, np.random.RandomState(0))
    assert np.bincount(codes[rows]).tolist() == [70, 29, 1]
    assert (np.diff(rows) > 0).all()


@pytest.mark.parametrize("n_wanted", [1, 2, 3, 5, 17, 99, 100, 1_000])
def test_as_many_rows_are_drawn_as_wanted(n_wanted):
    codes = np.repeat([0, 1, 2], [1, 3, 96]).astype(np.int32)
    rows = stratified_rows(codes, n_wanted, np.random.RandomState(1))
    assert len(rows) == min(n_wanted, 100)
    assert n_wanted < 3 or set(codes[rows]) == {0, 1, 2}


def test_a_limit_of_rows_is_a_count_or_a_part():
    assert [row_limit(limit, 200) for limit in (None, 50, 0.3, 1.0, 1, 999)] == [200, 50, 60, 200, 1, 200]


def test_the_path_grows_with_the_rows():
    assert min_cases_path(100) == [2, 5]
    assert min_cases_path(20_000) == [10, 20, 40, 100, 200, 400, 1_000]


def test_stages_add_up():
    report = ReportBuilder()
    for _ in range(2):
        with report.stage("sleeping"):
            time.sleep(0.02)
    stage = report.stages["sleeping"]
    assert stage.seconds >= 0.04
    assert stage.cpu_seconds < stage.seconds


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run_progress(verbose, stream):
    progress = Progress(verbose, stream)
    progress.started("ECLAIRE", 2)
    for layer in ("first", "second"):
        progress.part_started(layer, 10)
        for n in range(1, 11):
            progress.steps_done(0, n)
        progress.part_done()
    progress.finished("ECLAIRE: 7 rules in 0.1 s")
    return stream.getvalue()


def test_progress_is_silent_by_default():
    assert run_progress(0, Terminal()) == ""


def test_progress_writes_over_its_line_in_a_terminal():
    text = run_progress(1, Terminal())
    assert text.count("\n") == 1
    assert "\rECLAIRE |" in text
    assert "second, 0/10 clauses" in text
    assert text.rstrip().endswith("7 rules in 0.1 s")


def test_progress_ends_its_line_when_it_is_interrupted():
    stream = Terminal()
    with contextlib.suppress(KeyboardInterrupt), Progress(1, stream) as progress:
        progress.started("ECLAIRE", 1)
        progress.part_started("first", 10)
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("\n")


def test_progress_writes_a_line_per_layer_into_a_file():
    lines = run_progress(1, io.StringIO()).splitlines()
    assert len(lines) == 3
    assert "first, 10/10 clauses" in lines[0]
    assert "100%" in lines[1]
    assert not any("\r" in line for line in lines)
