"""A rule set of 100,000 rules does everything that small ones do, within bounded memory."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.rules.many_rules import many_rules, rows_for

from clausewise import RuleSet
from clausewise.io import json as rule_json

N_RULES = 100_000
# What the imports take (some 200 MB) and the rules in every form at once.
MAX_BYTES = 1 << 30

WORK = """
import json, sys
from pathlib import Path
import numpy as np
from tests.rules.many_rules import many_rules, rows_for
from clausewise import RuleSet

rules = many_rules(100_000)
path = Path(sys.argv[1])
rules.save(path)
said = {"same": RuleSet.load(path) == rules}
said["printed"] = len(str(rules)) + len(repr(rules)) + len(rules._repr_html_())
rows = rows_for(100)
said["decided"] = len(rules.predict(rows))
others = rules[~rules.columns.priority]
half = len(others) // 2
parts = others[:half].scores(rows) + others[half:].scores(rows)
said["adds_up"] = bool((others.scores(rows) == parts).all())
said["fired"] = len(rules.explain(rows[:2])[0].fired)
said["there"] = rules[99_999] in rules
said["distinct"] = len(rules.distinct())
said["edited"] = len(rules.add("IF f0 <= 1 THEN a").remove(7))
some = rules[:int(sys.argv[2])]
said["text"] = RuleSet.from_text(some.to_text()) == some
exports = [some.to_sql("t"), some.to_python(), some.to_pmml(), some.to_markdown(), some.to_latex()]
said["exported"] = [len(text) for text in exports]
status = Path("/proc/self/status").read_text()
said["peak"] = int(status.split("VmHWM:")[1].split("kB")[0]) * 1024
print(json.dumps(said))
"""


def said_about(n_exported, path):
    """Return the results of a process that uses 100,000 rules, and exports `n_exported` of them."""
    if not sys.platform.startswith("linux"):
        pytest.skip("the peak of memory is read from /proc")
    command = [sys.executable, "-c", WORK, str(path), str(n_exported)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    return said_about(2_000, tmp_path_factory.mktemp("many") / "rules.json")


def test_many_rules_are_saved_and_loaded_equal(said):
    assert said["same"]


def test_many_rules_are_truncated_when_printed(said):
    assert 1_000 < said["printed"] < 50_000


def test_many_rules_decide_and_explain_rows(said):
    assert said["decided"] == 100
    assert said["adds_up"]
    assert said["fired"] > 100


def test_many_rules_are_found_counted_and_edited(said):
    assert said["there"]
    assert 50_000 < said["distinct"] <= N_RULES
    assert said["edited"] == N_RULES


def test_many_rules_are_written_for_other_systems(said):
    assert said["text"]
    assert min(said["exported"]) > 100_000


@pytest.mark.slow_under_sanitizers  # they take memory of their own
def test_many_rules_take_bounded_memory(said):
    assert said["peak"] < MAX_BYTES


@pytest.mark.fuzz
def test_all_of_many_rules_are_written_for_other_systems_in_bounded_memory(tmp_path):
    said = said_about(N_RULES, tmp_path / "rules.json")
    assert said["text"]
    assert min(said["exported"]) > 10_000_000
    assert said["peak"] < 4 * MAX_BYTES  # some exports are trees of objects, and all are kept here


# --- Time ---


@pytest.mark.parametrize(
    "work",
    [
        lambda rules: rule_json.loads(rule_json.dumps(rules)),
        lambda rules: RuleSet.from_text(rules.to_text()),
        lambda rules: rules.n_premises,
        lambda rules: rules.to_frame(),
        lambda rules: rules.distinct(),
        lambda rules: rules.reweight(slice(None), weight=2),
        lambda rules: rules.remove(slice(0, len(rules) // 2)),
        lambda rules: rules.with_voting("weights").scorecard(),
        lambda rules: rules.explain(rows_for(2)),
        lambda rules: rules.compare(rules[1:]),
    ],
    ids=[
        "json",
        "text",
        "n_premises",
        "frame",
        "distinct",
        "reweight",
        "remove",
        "scorecard",
        "explain",
        "compare",
    ],
)
def test_ten_times_the_rules_take_far_less_than_a_hundred_times_as_long(work):
    few, many = many_rules(50), many_rules(500)
    work(few)  # imports what is imported late
    seconds = [min(_seconds(work, rules) for _ in range(2)) for rules in (few, many)]
    assert seconds[1] < 40 * seconds[0] + 0.05


def _seconds(work, rules):
    begin = time.process_time()
    work(rules)
    return time.process_time() - begin


def test_premises_are_counted_as_the_rules_say():
    rules = many_rules(2_000)
    doubled = rules + rules[np.arange(0, 2_000, 3)]
    assert doubled.n_premises == len({rule.terms for rule in doubled})
    assert rules[5] in doubled
    assert "a rule" not in doubled


def test_a_rule_that_differs_anywhere_is_not_contained():
    from dataclasses import replace

    rules = many_rules(50)
    for number in range(0, 50, 7):
        assert rules[number] in rules
        for change in ({"confidence": 0.4321}, {"weight": 77.0}, {"terms": ()}, {"priority": True}):
            other = replace(rules[number], **change)
            assert (other in rules) == any(other == rule for rule in rules)
