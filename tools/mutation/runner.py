"""Runs pytest in forks of a process that has imported, once, what tests need besides the package.

Reads one JSON document per line: arguments of pytest, environment variables, and the file for what it
prints. Answers with the number of the process that runs pytest, and later with its exit code.
"""

import contextlib
import importlib
import json
import os
import sys
import traceback

# Imports take longer than most tests. The package itself is imported after the fork, since it changes.
_IMPORTED = (
    "hypothesis.extra.numpy",
    "narwhals.stable.v1",
    "numpy",
    "pandas",
    "pyarrow.parquet",
    "pytest",
    "scipy.stats",
    "sklearn.compose",
    "sklearn.datasets",
    "sklearn.ensemble",
    "sklearn.neural_network",
    "sklearn.pipeline",
)


def main() -> None:
    """Run requests until there are no more."""
    sys.path[0] = os.getcwd()  # as `python -m pytest` does
    for name in _IMPORTED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if process == 0:
            os.environ.update(request["environment"])
            _run(request["arguments"], request["output"])
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(arguments: list[str], output: str) -> None:
    """Run pytest in a session of its own, and end this process."""
    code = 3  # pytest's own code for an error inside it
    try:
        os.setsid()
        printed = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (printed, 1), (printed, 2)):
            os.dup2(source, target)
        import pytest

        code = int(pytest.main(arguments))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
