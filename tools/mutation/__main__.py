"""Change the package in small ways, one at a time, and report which changes no test notices.

    python -m tools.mutation [--sample 200] [--seed 0] [--folders rules io] [--list]

Each mutant runs in a copy of the repository, with the tests of its folder that reach the changed line. The
results are kept in `out/mutate.json`, so that a run that was stopped continues. A mutant that was caught runs
again when its file changes, or the file of the test that caught it; any other one also when any test of its
folder changes. Mutants that cannot change any promised behaviour are listed in `equivalent.toml`, each with
its reason, and are not counted.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tools.mutation.baseline import Baseline, baseline, fingerprint, tests_fingerprint
from tools.mutation.mutants import Mutant, mutants_of
from tools.mutation.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/clausewise")
FOLDERS = ("rules", "analysis", "induction", "compact", "extractors", "io", "export")
CAUGHT, TIMEOUT, SURVIVED, NOT_REACHED = "caught", "timeout", "survived", "not reached"


def main() -> int:
    """Run a sample of mutants; the exit code is 1 if fewer than `--at-least` of them are caught."""
    options = _parser().parse_args()
    sample = sampled(options.folders, options.sample, options.seed, options.only)
    equivalent = _equivalent()
    if options.list:
        for mutant in sample:
            print(_described(mutant, "equivalent" if _name(mutant) in equivalent else ""))
        return 0
    counted = [mutant for mutant in sample if _name(mutant) not in equivalent]
    results = _Results(ROOT / "out" / "mutate.json")
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        _run(counted, results, Path(folder), options)
    return _report(counted, len(sample) - len(counted), results, options.at_least)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make mutate MUTATE_ARGS=…", description=__doc__)
    parser.add_argument("--sample", type=int, default=200, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other mutants")
    parser.add_argument("--folders", nargs="+", default=FOLDERS, help="folders of the package")
    parser.add_argument("--only", default="", help="mutants of files whose path contains this text")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests to run for one mutant")
    parser.add_argument("--at-least", type=float, default=90.0, help="percentage to be caught")
    parser.add_argument("--processes", type=int, default=2, help="mutants that run at the same time")
    parser.add_argument("--survivors", action="store_true", help="run those again that have survived so far")
    parser.add_argument("--list", action="store_true", help="list the sample and run nothing")
    return parser


# --- The sample ---


def sampled(folders: list[str], n_mutants: int, seed: int, only: str = "") -> list[Mutant]:
    """Return a reproducible sample: each folder, and in it each kind of mutant, equally often while it lasts.

    It depends on the text of the mutated lines alone, so changes elsewhere leave most of it as it is.
    """
    shares = [n_mutants // len(folders) + (place < n_mutants % len(folders)) for place in range(len(folders))]
    return [
        mutant
        for folder, share in zip(folders, shares, strict=True)
        for mutant in _in_turns(_mutants_in(folder, only), seed)[:share]
    ]


def _mutants_in(folder: str, only: str) -> list[Mutant]:
    found = []
    for path in sorted((ROOT / PACKAGE / folder).rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if only in file:
            found += mutants_of(file, path.read_text(encoding="utf-8"))
    return found


def _in_turns(mutants: list[Mutant], seed: int) -> list[Mutant]:
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in sorted(mutants, key=lambda mutant: mutant.rank(seed)):
        by_kind[mutant.kind].append(mutant)
    longest = max(map(len, by_kind.values()), default=0)
    kinds = sorted(by_kind)
    return [by_kind[kind][turn] for turn in range(longest) for kind in kinds if turn < len(by_kind[kind])]


def _equivalent() -> set[tuple[str, str, str]]:
    """Read the names of equivalent mutants; an entry that fits no mutant any more is an error."""
    path = Path(__file__).with_name("equivalent.toml")
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    for entry in entries:
        source = (ROOT / PACKAGE / entry["file"]).read_text(encoding="utf-8")
        lines = {line.strip() for line in source.splitlines()}
        if entry["before"] not in lines or not entry["reason"]:
            raise SystemExit(f"{path.name}: {entry['file']} has no line {entry['before']!r}, or no reason.")
    return {((PACKAGE / entry["file"]).as_posix(), entry["before"], entry["after"]) for entry in entries}


def _name(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.file, mutant.before, mutant.after


# --- Running ---


class _Results:
    """Verdicts by mutant, written after each one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.by_key: dict[str, dict[str, Any]] = {}
        if path.exists():
            self.by_key = json.loads(path.read_text(encoding="utf-8"))

    def add(self, mutant: Mutant, result: dict[str, Any]) -> None:
        with self._lock:
            self.by_key[mutant.key] = result
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_suffix(".new")
            beside.write_text(json.dumps(self.by_key, indent=1, ensure_ascii=False), encoding="utf-8")
            beside.replace(self._path)

    def verdict(self, mutant: Mutant) -> str:
        return str(self.by_key.get(mutant.key, {}).get("verdict", ""))

    def is_current(self, mutant: Mutant) -> bool:
        """Return whether neither the mutated file nor the tests that count have changed since the verdict."""
        result = self.by_key.get(mutant.key, {})
        current = verdict_fingerprint(ROOT, mutant, result.get("test", ""))
        return bool(result.get("fingerprint") == current)


def _run(mutants: list[Mutant], results: _Results, folder: Path, options: argparse.Namespace) -> None:
    missing = [mutant for mutant in mutants if not results.is_current(mutant)]
    if options.survivors:
        missing = [mutant for mutant in mutants if results.verdict(mutant) not in (CAUGHT, TIMEOUT)]
    if not missing:
        return
    sandboxes: SimpleQueue[Sandbox] = SimpleQueue()
    for place in range(options.processes):
        (folder / str(place)).mkdir()
        sandboxes.put(Sandbox(ROOT, folder / str(place)))
    baselines: dict[str, Baseline] = {}

    def judge(mutant: Mutant) -> None:
        sandbox = sandboxes.get()
        began = time.monotonic()
        try:
            verdict, test = _verdict(mutant, sandbox, baselines[_tests_of(mutant)], options.seconds)
            # Of the copy: the working tree may have changed since it was made.
            current = verdict_fingerprint(sandbox.folder, mutant, test)
        finally:
            sandboxes.put(sandbox)
        seconds = round(time.monotonic() - began, 1)
        results.add(mutant, {"verdict": verdict, "test": test, "seconds": seconds, "fingerprint": current})
        print(f"{seconds:6.1f} s  {_described(mutant, verdict)}", flush=True)

    for tests in dict.fromkeys(map(_tests_of, missing)):
        sandbox = sandboxes.get()
        kept = ROOT / "out" / "mutate" / f"{Path(tests).name}.json"
        baselines[tests] = baseline(sandbox, tests, kept, options.processes)
        _require_success_without_mutant(sandbox, baselines[tests])
        sandboxes.put(sandbox)
        with ThreadPoolExecutor(options.processes) as pool:
            try:
                list(pool.map(judge, [mutant for mutant in missing if _tests_of(mutant) == tests]))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    for _ in range(options.processes):
        sandboxes.get().close()


def _require_success_without_mutant(sandbox: Sandbox, known: Baseline) -> None:
    """Run a test as for a mutant; if it failed without one, every mutant would seem to be caught."""
    fastest = min(known.seconds, key=lambda test: known.seconds[test])
    if _exit_code(sandbox, [fastest], 60.0) != 0:
        raise SystemExit(f"{sandbox.output()}\n{fastest} fails without any mutant.")


def _verdict(mutant: Mutant, sandbox: Sandbox, known: Baseline, max_seconds: float) -> tuple[str, str]:
    """Return the verdict, and the test that failed if there is one."""
    tests = known.tests_for(mutant.file, mutant.statement, max_seconds)
    if not tests:
        return NOT_REACHED, ""
    original = (sandbox.folder / mutant.file).read_text(encoding="utf-8")
    sandbox.write(mutant.file, mutant.source)
    try:
        # Importing the package takes seconds, more on a busy machine.
        code = _exit_code(sandbox, tests, 40.0 + 3.0 * sum(known.seconds[test] for test in tests))
    finally:
        sandbox.write(mutant.file, original)
    if code is None:
        return TIMEOUT, ""
    if code == 5:
        raise RuntimeError(f"{sandbox.output()}\nNo test was run for {mutant.key}.")
    failed = _failed(sandbox)
    return (SURVIVED, "") if code == 0 else (CAUGHT, failed.read_text("utf-8") if failed.exists() else "")


def _exit_code(sandbox: Sandbox, tests: list[str], max_seconds: float) -> int | None:
    listed = sandbox.folder / "tests.json"
    listed.write_text(json.dumps(tests), encoding="utf-8")
    failed = _failed(sandbox)
    failed.unlink(missing_ok=True)
    files = sorted({test.partition("::")[0] for test in tests})
    environment = {"CLAUSEWISE_MUTATE_TESTS": str(listed), "CLAUSEWISE_MUTATE_FAILED": str(failed)}
    return sandbox.pytest([*files, "-x", "-q", "--no-cov"], max_seconds, **environment)


def _failed(sandbox: Sandbox) -> Path:
    return sandbox.folder / "failed.txt"


def _tests_of(mutant: Mutant) -> str:
    return f"tests/{_folder_of(mutant)}"


def _folder_of(mutant: Mutant) -> str:
    return Path(mutant.file).relative_to(PACKAGE).parts[0]


def verdict_fingerprint(root: Path, mutant: Mutant, test: str) -> str:
    """Return a text that changes with the mutated file, and with the file of `test` or else all tests."""
    file = test.partition("::")[0] or None
    return fingerprint(root, [mutant.file])[:16] + tests_fingerprint(root, _tests_of(mutant), file)[:16]


# --- Reporting ---


def _report(mutants: list[Mutant], n_equivalent: int, results: _Results, at_least: float) -> int:
    by_folder: dict[str, list[str]] = defaultdict(list)
    for mutant in mutants:
        by_folder[_folder_of(mutant)].append(results.verdict(mutant))
    survivors = [mutant for mutant in mutants if results.verdict(mutant) in (SURVIVED, NOT_REACHED)]
    print("\nSurvivors:" if survivors else "\nNo survivors.")
    for mutant in survivors:
        print(f"  {_described(mutant, results.verdict(mutant))}")
    print("\nfolder       mutants  caught")
    verdicts: list[str] = []
    for folder, found in by_folder.items():
        verdicts += found
        print(f"{folder:<12} {len(found):>7}  {_percentage(found):5.1f} %")
    print(f"{'all':<12} {len(verdicts):>7}  {_percentage(verdicts):5.1f} %", end="")
    print(f"  ({verdicts.count(TIMEOUT)} by the time limit; {n_equivalent} equivalent ones not counted)")
    return int(_percentage(verdicts) < at_least)


def _percentage(verdicts: list[str]) -> float:
    n_caught = sum(verdict in (CAUGHT, TIMEOUT) for verdict in verdicts)
    return 100.0 * n_caught / max(len(verdicts), 1)


def _described(mutant: Mutant, verdict: str) -> str:
    return f"{verdict:<11} {mutant.file}:{mutant.line}\n      {mutant.before}\n    → {mutant.after}"


if __name__ == "__main__":
    sys.exit(main())
