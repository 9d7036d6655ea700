"""Texts in the form in which rule sets are written are read as by the reader for the whole language."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset

from clausewise import Features, Origin, RuleTextError
from clausewise.rules.text import document
from clausewise.rules.text.vocabulary import Vocabulary
from clausewise.rules.voting import VOTINGS

ORIGINS = (
    None,
    Origin(),
    Origin("inputs"),
    Origin("hidden 1", 'u1 > 0 AND "u2" THEN, x'),
    Origin(None, "é\n"),
)


def written(seed, n_rules=8):
    """Return a random rule set with names that need quotes, and its text."""
    rng = np.random.default_rng(seed)
    drawn = random_features(rng, 5)
    names = ("age", "mean radius", "AND", 'a " THEN b', "é.2")
    features = Features(names, drawn.kinds, drawn.categories)
    rules = random_ruleset(rng, features, n_rules, voting=str(rng.choice(VOTINGS))).with_scale(
        float(rng.choice([1.0, 2.5]))
    )
    origins = tuple(ORIGINS[i] for i in rng.integers(len(ORIGINS), size=n_rules))
    rules = replace(rules, columns=replace(rules.columns, origins=origins))
    return rules, rules.to_text()


def outcome(read, text):
    """Return the rule set that a text stands for, or its error."""
    try:
        return read(text, Vocabulary())
    except RuleTextError as error:
        return str(error)


@given(st.integers(0, 10**6))
def test_written_texts_need_no_other_reader(seed):
    rules, text = written(seed)
    assert document._read_written(text, Vocabulary()) == rules
    assert document._read_any(text, Vocabulary()) == rules


PIECES = (
    "",
    " ",
    "  ",
    "\n",
    "#",
    '"',
    "{",
    "}",
    ",",
    "<",
    ">=",
    "1",
    "1e999",
    "-",
    "THEN",
    "AND ",
    "NOT ",
    "IF ",
)


@given(st.integers(0, 300), st.data())
def test_changed_texts_mean_the_same_or_have_the_same_error(seed, data):
    _, text = written(seed, n_rules=4)
    begin = data.draw(st.integers(0, len(text)))
    end = begin + data.draw(st.integers(0, 3))
    changed = text[:begin] + data.draw(st.sampled_from(PIECES)) + text[end:]
    assert outcome(document.read_ruleset, changed) == outcome(document._read_any, changed)


@given(st.integers(0, 300), st.data())
def test_exchanged_words_mean_the_same_or_have_the_same_error(seed, data):
    _, text = written(seed, n_rules=4)
    words = text.split(" ")
    first, second = (data.draw(st.integers(0, len(words) - 1)) for _ in range(2))
    words[first], words[second] = words[second], words[first]
    changed = " ".join(words)
    assert outcome(document.read_ruleset, changed) == outcome(document._read_any, changed)


HEADER = (
    'FEATURE age NUMERIC\nFEATURE job CATEGORICAL {cook, nurse}\nFEATURE "is in" BINARY\n'
    "CLASSES {no, yes}\nDEFAULT no\nVOTING weights\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "IF age <= 1e400 THEN yes",
        "IF age < -1.7976931348623157e308 THEN yes",
        f"IF age <= {'9' * 350} THEN yes",
        f"IF age <= 0.{'1' * 200} THEN yes",
        "IF age <= 3 AND age > 1 THEN yes",
        "IF job = nurse AND age <= 3 THEN yes",
        "IF job <= 3 THEN yes",
        "IF age = 3 THEN yes",
        "IF age != 3 THEN yes",
        "IF 3 < job = nurse THEN yes",
        "IF 3 < age > 5 THEN yes",
        "IF 3 <= age < 5 THEN yes",
        'IF "age" <= 3 THEN yes',
        'IF "is in" = TRUE AND age <= 3 THEN yes',
        "IF is in = TRUE THEN yes",
        "IF job IN {} THEN yes",
        "IF job NOT IN {cook, pilot} THEN yes",
        "IF age IN {1} THEN yes",
        "IF age IS KNOWN THEN yes",
        "IF TRUE THEN yes",
        "IF TRUE AND age <= 3 THEN yes",
        "IF age <= 3 THEN maybe",
        "IF age <= 3 THEN NOT yes WITH weight 2",
        "IF age <= 3 THEN NOT yes WITH weight -2",
        "IF age <= 3 THEN yes WITH",
        "IF age <= 3 THEN yes WITH ",
        "IF age <= 3 THEN yes WITH cover 3,",
        "IF age <= 3 THEN yes WITH cover 3, ",
        "IF age <= 3 THEN yes WITH cover 3, correct 4",
        "IF age <= 3 THEN yes WITH confidence 2",
        "IF age <= 3 THEN yes WITH weight 1e400",
        "IF age <= 3 THEN yes WITH cover 3 correct 2",
        "IF age <= 3 THEN yes WITH cover 3, cover 3",
        "IF age <= 3 THEN yes WITH priority, layer inputs",
        "IF age <= 3 THEN yes  # a remark",
        "IF age <= 3 THEN yes\r",
        "if age <= 3 then yes",
        "IF age <= 3\n THEN yes",
        "IF age <= 3 THEN yes IF age > 3 THEN no",
        "IF age <= 3 THEN yes\nVOTING share",
    ],
)
def test_every_line_means_what_the_whole_language_says(line):
    text = f"{HEADER}\nIF age > 60 THEN no\n{line}\n\n# the end\n"
    assert outcome(document.read_ruleset, text) == outcome(document._read_any, text)
