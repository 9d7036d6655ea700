"""The number of threads for `n_jobs`."""

import os

import numpy as np
import pytest

from clausewise.base import threads


def test_none_and_minus_one_are_all_usable_cores(monkeypatch):
    monkeypatch.delenv(threads.VARIABLE, raising=False)
    assert threads.resolve(None) == threads.resolve(-1) == threads.usable_cores() >= 1
    if hasattr(os, "sched_getaffinity"):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 3, 5})
        assert threads.resolve(None) == 3
        monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads.resolve(None) == 1


def test_the_environment_sets_what_all_means(monkeypatch):
    monkeypatch.setenv(threads.VARIABLE, "3")
    assert threads.resolve(None) == threads.resolve(-1) == 3
    assert threads.resolve(2) == 2


def test_a_number_of_jobs_is_a_number_of_threads():
    assert threads.resolve(7) == 7
    assert threads.resolve(np.int64(7)) == 7


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "2", True])
def test_other_numbers_of_jobs_are_errors(n_jobs):
    with pytest.raises(ValueError, match="n_jobs is"):
        threads.resolve(n_jobs)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "²"])
def test_a_wrong_environment_is_an_error(monkeypatch, text):
    monkeypatch.setenv(threads.VARIABLE, text)
    with pytest.raises(ValueError, match=f"{threads.VARIABLE} is"):
        threads.resolve(None)


def test_absurd_numbers_of_threads_are_bounded():
    assert threads.resolve(2**70) == threads.MAX_THREADS
