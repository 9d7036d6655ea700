"""Targets that misbehave, to test that the fuzzer notices."""

import ctypes
import os
import time
from types import SimpleNamespace

from hypothesis import strategies as st


def _target(name, read, check=lambda value: None):
    return SimpleNamespace(
        name=name,
        read=read,
        errors=(ValueError,),
        check=check,
        examples=lambda: [b"even"],
        strategy=lambda: st.binary(),
        words=(),
        structured=None,
    )


class _Bad:
    """Misbehaves on inputs of odd length, and accepts the others."""

    def __init__(self, act):
        self._act = act

    def __call__(self, data):
        if len(data) % 2:
            self._act()
        return data


def _eats():
    return [bytearray(2**26) for _ in range(64)]


def _writes():
    with open("made", "w") as file:
        file.write("x")


def _writes_unseen():
    libc = ctypes.CDLL(None)
    libc.close(libc.creat(b"made", 0o600))


def _raises():
    raise KeyError("x")


def _raises_nothing_said():
    raise ValueError


def _talks():
    raise ValueError("x" * 10**6)


HANGS = _target("hangs", _Bad(lambda: time.sleep(100)))
EATS = _target("eats", _Bad(_eats))
CRASHES = _target("crashes", _Bad(os.abort))
WRITES = _target("writes", _Bad(_writes))
WRITES_UNSEEN = _target("writes-unseen", _Bad(_writes_unseen))
RAISES = _target("raises", _Bad(_raises))
SAYS_NOTHING = _target("says-nothing", _Bad(_raises_nothing_said))
TALKS = _target("talks", _Bad(_talks))
GOOD = _target("good", _Bad(lambda: None))
