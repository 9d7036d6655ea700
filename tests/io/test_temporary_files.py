"""Temporary files beside rule files: who may read and remove them, and how they are named."""

import os
import sys
from pathlib import Path

import pytest

from clausewise import Rule, RuleSet, Term
from clausewise.io import atomic

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX locks and permissions")

FEW = RuleSet.from_rules([Rule((Term(0, low=i),), "yes") for i in range(5)], ["x"], default="no")


def test_a_temporary_file_in_use_is_not_removed_as_a_leftover(tmp_path):
    target = tmp_path / "rules.json"
    temporary = atomic._temporary_name(target)
    handle = atomic._create_locked(temporary, None)
    try:
        FEW.save(target)
        assert sorted(os.listdir(tmp_path)) == sorted([Path(temporary).name, "rules.json"])
    finally:
        os.close(handle)
    FEW.save(target)
    assert os.listdir(tmp_path) == ["rules.json"]


def test_other_files_are_left_alone(tmp_path):
    kept = [
        ".other.json.0123.tmp",
        "rules.json.tmp",
        ".rules.json.swp",
        ".rules.json.backup.tmp",
        ".rules.jsonx.1.tmp",
    ]
    for name in kept:
        (tmp_path / name).write_text("not ours")
    FEW.save(tmp_path / "rules.json")
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "rules.json"])


def test_the_longest_possible_file_name_can_be_saved(tmp_path):
    path = tmp_path / ("é" * 120 + ".json")
    FEW.save(path)
    FEW.save(path)
    assert RuleSet.load(path) == FEW
    assert os.listdir(tmp_path) == [path.name]


def test_a_private_file_is_private_while_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "rules.json"
    FEW.save(path)
    path.chmod(0o600)
    seen = []
    monkeypatch.setattr(atomic.os, "fsync", lambda handle: seen.append(os.fstat(handle).st_mode & 0o777))
    FEW.save(path)
    assert seen[0] == 0o600
    assert path.stat().st_mode & 0o777 == 0o600
