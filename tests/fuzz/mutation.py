"""Mutates valid inputs: changed bytes, words of the format, and changed structure."""

import json
import random
import re

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[\w.]+|\s+|.', re.DOTALL)
_NUMBERS = """
    0 -0 1 -1 2 0.1 0.5 1e-320 5e-324 1e308 -1e308 1.7976931348623157e308 1e309 2147483648 -2147483649
    4294967296 9007199254740993 9223372036854775808 18446744073709551616 1e16 NaN Infinity -Infinity
"""
NUMBERS = (*_NUMBERS.encode().split(), b"9" * 320, b"1" + b"0" * 5000)
TEXTS = (
    "",
    " ",
    "=",
    "a = b",
    '"',
    "'",
    "\\",
    "\n",
    "\r\n",
    "\x00",
    "\u2028",
    "\ufeff",
    "</script><script>",
    "<!--",
    "]]>",
    "&amp;",
    "{}",
    "é",
    "日本",
    "🂡",
    "\u202e",
    "TRUE",
    "null",
    "__class__",
    "../../x",
    "x" * 300,
)


class Mutator:
    """Draws inputs by changing examples and previously accepted inputs.

    Parameters
    ----------
    examples : list of bytes
        Valid inputs.
    words : sequence of bytes
        Tokens of the format.
    structured : callable, optional
        Takes an input and a `random.Random`; returns an input with changed structure, or None.
    seed : int
        Makes the inputs reproducible.
    """

    def __init__(self, examples, words=(), structured=None, seed=0):
        self.random = random.Random(seed)
        self._pool = list(examples)
        self._n_examples = len(self._pool)
        self._max_size = 2 * max(map(len, self._pool))
        self._words = tuple(words)
        self._structured = structured

    def __iter__(self):
        return self

    def __next__(self):
        return self.changed(self.random.choice(self._pool))

    def accepted(self, data):
        """Add an accepted input to the pool, unless it is too long; the size of the pool is limited."""
        if len(data) > self._max_size:
            return
        if len(self._pool) < self._n_examples + 200:
            self._pool.append(data)
        else:
            self._pool[self.random.randrange(self._n_examples, len(self._pool))] = data

    def changed(self, data, max_size=1 << 16):
        """Return a changed copy of an input."""
        for _ in range(self.random.choice((1, 1, 1, 2, 3, 5))):
            changes = [*_CHANGES, self._with_word, self._spliced]
            if self._structured is not None and self.random.random() < 0.6:
                changed = self._structured(data, self.random)
                if changed is not None:
                    data = changed
                    continue
            change = self.random.choice(changes)
            data = change(data, self.random)
        return data[:max_size]

    def _with_word(self, data, rng):
        word = rng.choice(self._words or (b"?",))
        place = rng.randint(0, len(data))
        return data[:place] + word + data[place + rng.choice((0, 0, len(word), 1)) :]

    def _spliced(self, data, rng):
        other = rng.choice(self._pool)
        return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


# --- Bytes ---


def _range(data, rng, most=64):
    begin = rng.randint(0, len(data))
    return begin, min(len(data), begin + rng.randint(1, most))


def _flipped(data, rng):
    changed = bytearray(data or b"\0")
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _overwritten(data, rng):
    begin, end = _range(data, rng, 4)
    return data[:begin] + rng.randbytes(end - begin) + data[end:]


def _removed(data, rng):
    begin, end = _range(data, rng)
    return data[:begin] + data[end:]


def _repeated(data, rng):
    begin, end = _range(data, rng)
    return data[:end] + data[begin:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _cut_off(data, rng):
    return data[: rng.randint(0, len(data))]


def _other_number(data, rng):
    found = list(_NUMBER.finditer(data))
    if not found:
        return data + rng.choice(NUMBERS)
    number = rng.choice(found)
    return data[: number.start()] + rng.choice(NUMBERS) + data[number.end() :]


def _other_text(data, rng):
    found = [token for token in _TOKEN.finditer(data) if token.group().startswith(b'"')]
    text = json.dumps(rng.choice(TEXTS), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    if not found:
        return data + text
    token = rng.choice(found)
    return data[: token.start()] + text + data[token.end() :]


def _moved_token(data, rng):
    tokens = _TOKEN.findall(data)
    if len(tokens) < 2:
        return data
    one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    how = rng.randrange(3)
    if how == 0:
        tokens[one], tokens[other] = tokens[other], tokens[one]
    elif how == 1:
        tokens.insert(one, tokens[other])
    else:
        del tokens[one]
    return b"".join(tokens)


_CHANGES = (
    _flipped,
    _overwritten,
    _removed,
    _repeated,
    _cut_off,
    _other_number,
    _other_number,
    _other_text,
    _moved_token,
    _moved_token,
)


# --- JSON ---

_VALUES = (None, True, False, 0, -1, 1, 0.5, 1e308, 2**53 + 1, 2**64, 10**320, [], {}, [[]], [{}])


def changed_json(data, rng):
    """Return a JSON document with a value replaced, removed, repeated or exchanged; None if not JSON."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    places = list(_places(document))
    if not places:
        return None
    inside, key = rng.choice(places)
    how = rng.randrange(6)
    if how == 0:
        inside[key] = rng.choice(_VALUES)
    elif how == 1:
        inside[key] = rng.choice(TEXTS)
    elif how == 2:
        del inside[key]
    elif how == 3 and isinstance(inside, list):
        inside.insert(key, inside[key])
    elif how == 4 and isinstance(inside, dict):
        inside[rng.choice((*TEXTS, *inside))] = inside[key]
    else:
        other, place = rng.choice(places)
        # Copied through text, so that no value contains itself.
        copies = [json.loads(json.dumps(part)) for part in (other[place], inside[key])]
        inside[key] = copies[0]
        if how == 5 and rng.random() < 0.5:
            other[place] = copies[1]
    return json.dumps(document, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _places(document, most=2000):
    stack = [document]
    while stack and most > 0:
        part = stack.pop()
        keys = range(len(part)) if isinstance(part, list) else list(part) if isinstance(part, dict) else ()
        for key in keys:
            most -= 1
            yield part, key
            stack.append(part[key])
