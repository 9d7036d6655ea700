"""Every engine decides as `predict` does on varied rule sets; on many of them in `make fuzz`."""

import itertools

import numpy as np
import pytest
from tests.export import engines
from tests.export.export_cases import with_nan
from tests.export.wide_cases import emitted_words, wide_case

from clausewise.rules.voting import VOTINGS

ENGINES = ("sqlite", "duckdb", "postgresql", "python", "onnx", "pmml")
N_ROWS_PER_ENGINE = 100_000


@pytest.fixture(params=ENGINES)
def decide(request):
    """Return a function of a case's rules, rows and random numbers that returns the engine's decisions."""
    name = request.param
    if name == "python":
        return lambda rules, rows, rng: engines.python_decisions(rules, rows)
    if name == "onnx":
        return lambda rules, rows, rng: engines.onnx_decisions(rules, rows)
    if name == "pmml":
        return lambda rules, rows, rng: engines.pmml_decisions(rules, rows)
    if name == "postgresql":
        database = engines.PostgreSQL(request.getfixturevalue("postgresql"))
    else:
        database = {"sqlite": engines.SQLite, "duckdb": engines.DuckDB}[name]()
    types = ("BOOLEAN", "SMALLINT", database.double)
    return lambda rules, rows, rng: database.decisions(rules, rows, binary=types[rng.integers(3)])


def n_compared_rows(decide, seed, n_rows=400):
    """Compare all rows of a case; return how many."""
    case = wide_case(seed, n_rows)
    rng = np.random.default_rng(seed)
    try:
        found = decide(case.rules, with_nan(rng, case.rules.features, case.rows), rng)
    except Exception as error:
        error.add_note(f"in wide_case({seed}, {n_rows})")
        raise
    differences = [i for i in range(n_rows) if found[i] != case.expected[i]]
    assert not differences, (
        f"wide_case({seed}, {n_rows}) differs on {len(differences)} rows, first on row {differences[0]}: "
        f"{found[differences[0]]!r} instead of {case.expected[differences[0]]!r}"
    )
    return len(found)


def test_engines_decide_as_predict_does(decide):
    assert sum(n_compared_rows(decide, seed, n_rows=25) for seed in range(60)) == 1500


@pytest.mark.fuzz
def test_engines_decide_as_predict_does_on_many_rows(decide, capsys, request):
    seeds = iter(np.random.SeedSequence().generate_state(10_000).tolist())
    n_rows = n_rule_sets = 0
    while n_rows < N_ROWS_PER_ENGINE:
        n_rows += n_compared_rows(decide, next(seeds))
        n_rule_sets += 1
    with capsys.disabled():
        print(f"\n{request.node.callspec.id}: {n_rows:,} rows of {n_rule_sets} rule sets, no difference")


def test_wide_cases_are_varied():
    drawn = [wide_case(seed, 20) for seed in range(150)]
    rules = [case.rules for case in drawn]
    assert {made.voting for made in rules} == set(VOTINGS)
    assert {type(label) for case in drawn for label in case.expected} == {str, int, float, bool}
    assert {1, 2, 20} <= {len(made.labels) for made in rules}
    assert any(len(made) == 0 for made in rules)
    assert any(len(made) > 200 for made in rules)
    assert any(len(made) > 0 and made.columns.priority.all() for made in rules)
    assert any(0 < made.columns.priority.sum() < len(made) for made in rules)
    assert any(np.abs(made.base).max() >= 2**53 for made in rules)
    assert any(made.columns.missing.any() for made in rules)
    names = {name for made in rules for name in made.features.names}
    assert {"true", "cast"} <= set(map(str.lower, names))
    assert any(len(name.encode()) > 63 for name in names)
    values = set(itertools.chain.from_iterable(itertools.chain.from_iterable(case.rows) for case in drawn))
    assert {None, float("inf"), -float("inf")} <= values


def test_words_of_queries_are_found():
    words = emitted_words()
    assert {"select", "case", "true", "false", "greatest", "cast", "double"} <= set(words["duckdb"])
    assert {"collate", "max", "real", "null", "t"} <= set(words["sqlite"])
    assert not {"true", "false"} & set(words["sqlite"])
