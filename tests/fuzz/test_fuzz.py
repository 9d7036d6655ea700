"""A short run of the fuzzer, inputs that once failed, and tests of the fuzzer itself."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz import driver
from tests.fuzz.large_tables import LARGE
from tests.fuzz.recording import run
from tests.fuzz.targets import TARGETS

FOUND = sorted((Path(__file__).parent / "found").glob("*.input"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_an_input_that_once_failed_is_read_or_refused(path):
    name = max((name for name in TARGETS if path.name.startswith(f"{name}-")), key=len)
    run(TARGETS[name], path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_every_example_is_accepted(name):
    target = TARGETS[name]
    assert all(run(target, example) for example in target.examples())


@pytest.mark.parametrize("name", TARGETS)
def test_drawn_inputs_are_read_or_refused(name):
    target = TARGETS[name]

    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    @given(target.strategy())
    def every(data):
        run(target, data)

    every()


# Few enough for every test run; `make fuzz` runs some hundred times as many.
SHORT = {"rule-file": 500, "rule-text": 300, "csv": 80, "onnx": 30, "request": 30}


@pytest.mark.parametrize("name", SHORT)
def test_changed_inputs_are_read_or_refused_within_limits(name):
    path = f"tests.fuzz.targets:{name.upper().replace('-', '_')}"
    result = driver.fuzz(path, "mutation", SHORT[name])
    assert result.findings == {}
    assert result.score.inputs == SHORT[name] == result.score.accepted + result.score.refused
    assert result.score.accepted > 0
    assert result.score.refused > 0
    assert 0 < result.score.peak < driver.MEMORY


# `make fuzz` does the same for all formats.
@pytest.mark.parametrize("name", ["csv-gz", "parquet", "rule-file", "rule-text"])
def test_small_files_of_large_tables_and_rule_sets_are_read_or_refused_within_limits(name):
    n_inputs = len(LARGE[name])
    result = driver.fuzz(f"tests.fuzz.targets:{name.upper().replace('-', '_')}", "large", n_inputs)
    assert result.findings == {}
    assert result.score.inputs == n_inputs
    # Rule files cannot refer to what they do not list, so that they are as large as what they describe.
    assert (result.score.refused == 0) == (name == "rule-file")


@pytest.mark.parametrize(
    ("target", "finding"),
    [
        ("HANGS", "over 0.05 s"),
        ("EATS", "MemoryError"),
        ("CRASHES", "exit code -6"),
        ("WRITES", "'made' was opened for writing"),
        ("WRITES_UNSEEN", "wrote made"),
        ("RAISES", "KeyError: 'x'"),
        ("SAYS_NOTHING", "ValueError without a message"),
        ("TALKS", "a message of 1,000,000 characters"),
    ],
)
def test_the_fuzzer_notices_misbehaviour(target, finding):
    seconds = 0.05 if target == "HANGS" else 5
    # Three inputs: what kills its process takes a new one, which imports everything again, for each.
    result = driver.fuzz(f"tests.fuzz.bad_targets:{target}", "mutation", 3, seconds=seconds)
    assert result.score.inputs == 3
    assert any(finding in text for text in result.findings.values()), result.findings


def test_the_fuzzer_finds_nothing_in_a_good_target():
    result = driver.fuzz("tests.fuzz.bad_targets:GOOD", "mutation", 50)
    assert result.findings == {}
    assert result.score.inputs == 50


@pytest.mark.skipif(not driver.has_atheris(), reason="atheris is not installed")
def test_atheris_runs_the_requested_number_of_inputs():
    result = driver.fuzz("tests.fuzz.targets:RULE_TEXT", "atheris", 300)
    assert result.findings == {}
    assert 300 <= result.score.inputs <= 320
