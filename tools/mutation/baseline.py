"""Which tests reach which lines of the package, and how long they take, without any mutant."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coverage import CoverageData
from tools.mutation.sandbox import Sandbox

# Helpers: every baseline, and every verdict on a mutant, may change with these.
_COMMON = ("tests/[!t]*.py", "tests/reference/*.py", "tests/corpus/*")
# Tests of size, interruptions and whole estimators take minutes; a mutant should not need them to be caught.
_LONG = frozenset(
    [
        "tests/export/test_engines.py",
        "tests/export/test_large_exports.py",
        "tests/extractors/test_estimators.py",
        "tests/induction/test_long_work.py",
        "tests/io/test_interrupted_saves.py",
        "tests/rules/test_many_rules.py",
    ]
)


@dataclass(frozen=True)
class Baseline:
    """The tests of one folder without any mutant.

    Attributes
    ----------
    seconds : dict
        Duration of each test, with its fixtures.
    reached : dict
        For each source file the tests that run each of its lines.
    """

    seconds: dict[str, float]
    reached: dict[str, dict[int, list[str]]]

    def tests_for(self, file: str, statement: tuple[int, int], max_seconds: float) -> list[str]:
        """Return the tests to run for a mutant, those that reach it first, the fastest of each kind first.

        Other tests of the same files follow, since only the first test that uses a shared fixture reaches
        what the fixture runs. What runs at import is reached by all tests of the module.
        """
        lines = self.reached.get(file, {})
        first, last = statement
        reaching = {test for line in range(first, last + 1) for test in lines.get(line, ())}
        if not reaching:
            reaching = {test for tests in lines.values() for test in tests}
        files = {_file_of(test) for test in reaching}
        beside = {test for test in self.seconds if _file_of(test) in files} - reaching
        chosen: list[str] = []
        total = 0.0
        for tests in (reaching, beside):
            for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
                total += self.seconds[test]
                if total > max_seconds and chosen:
                    return chosen
                chosen.append(test)
        return chosen


def baseline(sandbox: Sandbox, folder: str, kept: Path, n_processes: int) -> Baseline:
    """Return the baseline of a folder of tests; only files that have changed since it was kept are run."""
    root = sandbox.folder
    shared = ["src/clausewise/**/*.py", *_COMMON, *_helpers(root, folder)]
    files = sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("test_*.py"))
    current = {file: fingerprint(root, [*shared, file]) for file in files if file not in _LONG}
    stored = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    missing = [file for file in current if stored.get(file, {}).get("fingerprint") != current[file]]
    if missing:
        print(f"running {' '.join(missing)} without mutants …", flush=True)
        seconds, reached = _measured(sandbox, missing, n_processes)
        for file in missing:
            stored[file] = {
                "fingerprint": current[file],
                "seconds": {test: taken for test, taken in seconds.items() if _file_of(test) == file},
                "reached": {
                    source: {
                        line: [test for test in tests if _file_of(test) == file]
                        for line, tests in lines.items()
                    }
                    for source, lines in reached.items()
                },
            }
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(stored), encoding="utf-8")
    return _joined([stored[file] for file in current])


def _measured(
    sandbox: Sandbox, files: list[str], n_processes: int
) -> tuple[dict[str, float], dict[str, dict[int, list[str]]]]:
    durations, data = sandbox.folder / "durations.json", sandbox.folder / "coverage.data"
    arguments = [*files, "-q", "-n", str(n_processes), "--dist", "loadfile"]
    arguments += ["--cov=clausewise", "--cov-context=test", "--cov-report="]
    environment = {"CLAUSEWISE_MUTATE_DURATIONS": str(durations), "COVERAGE_FILE": str(data)}
    if sandbox.pytest_in_parallel(arguments, **environment) != 0:
        raise SystemExit(f"{sandbox.output()}\nTests fail without any mutant.")
    return json.loads(durations.read_text(encoding="utf-8")), _reached(data, sandbox.folder)


def fingerprint(root: Path, patterns: list[str]) -> str:
    """Return a text that changes with the content of these files."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def tests_fingerprint(root: Path, folder: str, file: str | None) -> str:
    """Return a text that changes with the tests of a folder, or with one file of them and its helpers."""
    if file is None:
        return fingerprint(root, [f"{folder}/**/*", *_COMMON])
    return fingerprint(root, [file, *_COMMON, *_helpers(root, folder)])


def _helpers(root: Path, folder: str) -> list[str]:
    paths = [path for path in (root / folder).rglob("*") if not path.name.startswith("test_")]
    return [path.relative_to(root).as_posix() for path in paths]


def _reached(data: Path, root: Path) -> dict[str, dict[int, list[str]]]:
    recorded = CoverageData(str(data))
    recorded.read()
    found = {}
    for file in recorded.measured_files():
        lines = {
            line: sorted({context.partition("|")[0] for context in contexts if context})
            for line, contexts in recorded.contexts_by_lineno(file).items()
        }
        found[Path(file).relative_to(root).as_posix()] = {
            line: tests for line, tests in lines.items() if tests
        }
    return found


def _joined(stored: list[dict[str, Any]]) -> Baseline:
    seconds: dict[str, float] = {}
    reached: dict[str, dict[int, list[str]]] = {}
    for of_file in stored:
        seconds |= of_file["seconds"]
        for source, lines in of_file["reached"].items():
            for line, tests in lines.items():
                # Skipped tests have no duration.
                timed = [test for test in tests if test in of_file["seconds"]]
                reached.setdefault(source, {}).setdefault(int(line), []).extend(timed)
    return Baseline(seconds, reached)


def _file_of(test: str) -> str:
    return test.partition("::")[0]
