"""A pytest plugin: run the listed tests only, in the order of the list; record failures and durations.

Standalone, since it is copied beside the mutated package.
"""

import json
import os
from pathlib import Path

import pytest

_LISTED = "CLAUSEWISE_MUTATE_TESTS"
_DURATIONS = "CLAUSEWISE_MUTATE_DURATIONS"
_FAILED = "CLAUSEWISE_MUTATE_FAILED"
_seconds: dict[str, float] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Limit memory, since a mutant may allocate without end."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = 8 * 2**30
    resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the listed tests, in the order of the list."""
    if _LISTED not in os.environ:
        return
    listed = json.loads(Path(os.environ[_LISTED]).read_text(encoding="utf-8"))
    place = {nodeid: index for index, nodeid in enumerate(listed)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
    items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up set-up, call and tear-down, and keep the name of a test that fails."""
    if not report.skipped:
        _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.failed and _FAILED in os.environ:
        Path(os.environ[_FAILED]).write_text(report.nodeid, encoding="utf-8")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the durations; with several processes, only the controller has a report of every test."""
    if _DURATIONS in os.environ and not hasattr(session.config, "workerinput"):
        Path(os.environ[_DURATIONS]).write_text(json.dumps(_seconds), encoding="utf-8")
