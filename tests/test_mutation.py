"""The mutants of `make mutate`: each is one small change that compiles."""

import os
import re
import tomllib

import pytest
from tools.mutation.__main__ import FOLDERS, ROOT, sampled, verdict_fingerprint
from tools.mutation.mutants import mutants_of
from tools.mutation.sandbox import Sandbox


def changes(source):
    return {(mutant.before, mutant.after) for mutant in mutants_of("f.py", source)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", ["a <= b"]),
        ("a is not b", ["a is b"]),
        ("a not in b", ["a in b"]),
        ("a <= b < c", ["a < b < c", "a <= b <= c"]),
        ("a + 5", ["a - 5", "a + 6", "a + 4"]),
        ("a and b and c", ["a or b and c", "a and b or c"]),
        ("not a", [" a"]),
        ("min(a, key=b)", ["max(a, key=b)"]),
        ("np.argmax(a)", ["np.argmin(a)"]),
        ("True", ["False"]),
        ("'≤' in a", ["'≤' not in a"]),
        ("b if a else c", ["b if not (a) else c"]),
        ("[b for b in c if b]", ["[b for b in c if not (b)]"]),
        ("'text' + a", []),
        ("f'{a + 1}'", []),
        ("isinstance(a, int | str)", []),
        ("zip(a, b, strict=True)", []),
    ],
)
def test_expressions_are_changed_at_one_place(before, after):
    assert changes(f"x = {before}\n") == {(f"x = {before}", f"x = {changed}".strip()) for changed in after}


def test_statements_are_changed_at_one_place():
    source = "while a:\n    if b:\n        break\n    c += d\n    continue\n"
    assert changes(source) == {
        ("while a:", "while not (a):"),
        ("if b:", "if not (b):"),
        ("break", "continue"),
        ("c += d", "c -= d"),
        ("continue", "break"),
    }


def test_types_messages_and_assertions_stay_as_they_are():
    source = "def f(a: int | None = None) -> int | None:\n    assert a > 1\n    raise ValueError(a + 1)\n"
    assert changes(source) == set()


def test_a_mutant_differs_from_the_file_in_one_line():
    source = (ROOT / "src/clausewise/compact/bins.py").read_text(encoding="utf-8")
    mutants = mutants_of("bins.py", source)
    assert len(mutants) > 50
    for mutant in mutants:
        compile(mutant.source, mutant.file, "exec")
        pairs = zip(source.splitlines(), mutant.source.splitlines(), strict=True)
        differing = [number for number, (old, new) in enumerate(pairs, 1) if old != new]
        assert differing[0] == mutant.line
        assert mutant.kind == "condition" or len(differing) == 1
    assert len({mutant.key for mutant in mutants}) == len(mutants)


def test_a_sample_is_reproducible_and_a_smaller_one_is_its_beginning():
    folders = ["io", "plots"]
    large = [mutant.key for mutant in sampled(folders, 40, seed=0)]
    assert large == [mutant.key for mutant in sampled(folders, 40, seed=0)]
    assert [mutant.key for mutant in sampled(folders, 20, seed=0)] == large[:10] + large[20:30]
    assert set(large) != {mutant.key for mutant in sampled(folders, 40, seed=1)}


def test_equivalent_mutants_exist_and_have_a_reason():
    text = (ROOT / "tools/mutation/equivalent.toml").read_text(encoding="utf-8")
    for entry in tomllib.loads(text).get("mutant", []):
        assert entry["file"].partition("/")[0] in FOLDERS
        source = (ROOT / "src/clausewise" / entry["file"]).read_text(encoding="utf-8")
        assert (entry["before"], entry["after"]) in changes(source)
        assert re.fullmatch(r".{20,}", entry["reason"])


@pytest.mark.parametrize(
    ("changed", "is_kept_if_caught", "is_kept_if_not"),
    [
        ("src/clausewise/io/a.py", False, False),
        ("src/clausewise/io/b.py", True, True),
        ("tests/io/test_a.py", False, False),
        ("tests/io/test_b.py", True, False),
        ("tests/io/conftest.py", False, False),
        ("tests/conftest.py", False, False),
        ("tests/rules/test_a.py", True, True),
    ],
)
def test_a_verdict_is_kept_until_what_it_depends_on_changes(
    tmp_path, changed, is_kept_if_caught, is_kept_if_not
):
    files = ["src/clausewise/io/a.py", "src/clausewise/io/b.py", "tests/conftest.py", "tests/rules/test_a.py"]
    files += ["tests/io/conftest.py", "tests/io/test_a.py", "tests/io/test_b.py"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("x = 1 < 2\n")
    mutant = mutants_of("src/clausewise/io/a.py", "x = 1 < 2\n")[0]
    caught, not_caught = (
        verdict_fingerprint(tmp_path, mutant, test) for test in ("tests/io/test_a.py::test", "")
    )
    (tmp_path / changed).write_text("x = 1 > 2\n")
    assert (verdict_fingerprint(tmp_path, mutant, "tests/io/test_a.py::test") == caught) == is_kept_if_caught
    assert (verdict_fingerprint(tmp_path, mutant, "") == not_caught) == is_kept_if_not


@pytest.mark.skipif(not hasattr(os, "fork") or not (ROOT / ".git").exists(), reason="needs fork and git")
def test_tests_pass_without_a_mutant_and_notice_one(tmp_path):
    file = "src/clausewise/rules/decimals.py"
    source = (ROOT / file).read_text(encoding="utf-8")
    assert "def format_number" in source
    sandbox = Sandbox(ROOT, tmp_path)
    try:
        assert sandbox.pytest(["tests/rules/test_decimals.py", "-x", "-q"], 300.0) == 0, sandbox.output()
        sandbox.write(file, source.replace("def format_number", "def format_numbers"))
        assert sandbox.pytest(["tests/rules/test_decimals.py", "-x", "-q"], 300.0) not in (0, 5, None)
    finally:
        sandbox.close()
