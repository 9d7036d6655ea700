"""The browser reads and writes the rule language as Python does, and complains about the same place."""

import json

import numpy as np
import pytest

from clausewise import Features, Origin, Rule, RuleSet, RuleTextError, Term
from clausewise.io.json import dumps
from clausewise.rules.decimals import shortest_decimal
from tests.rules.random_rules import random_features, random_ruleset

FEATURES = Features(
    ("age", "job", "smokes", "mean radius", "größe", "grade"),
    ("numeric", "categorical", "binary", "numeric", "numeric", "categorical"),
    (None, ("cook", "nurse", "teacher", "3"), None, None, None, (1, 2, 5)),
)
LABELS = {"text": ["no", "yes", "may be"], "floats": [0.5, 2.0], "whole": [0, 1], "truth": [False, True]}

RIGHT = [
    "IF age <= 47 THEN no",
    "if age ≤ 47 and smokes = true then yes with confidence .5, cover 12, correct 1.1e1, weight -1, priority",
    'IF 17 < age <= 65 AND "mean radius" >= 1e-3 AND größe > -4 THEN yes WITH layer "hidden 1", clause "u"',
    "IF 65 >= age > 17 THEN no\n# comment\nIF TRUE THEN yes WITH origin",
    'IF job IN {nurse, "teacher", 3} AND job != cook THEN "may be"',
    "IF job NOT IN {} AND grade ∈ {1, 5.0} THEN no",
    "IF job is known and age is known THEN no",
    "IF age = 0.1 AND smokes <> 1 THEN no",
    "IF age > 1 AND age <= 5 AND age > 2 THEN yes",
    "IF 3 < age <= 2 THEN yes",
    "IF job IN {} THEN yes",
    "IF age >= 30 AND age < 40 THEN yes",
    "IF age > -0 THEN yes",
    'IF "age" <= 1e308 THEN yes WITH layer "tab\\tquote\\" a\tb"',
]
WRONG = [
    "",
    "# nothing",
    "age <= 4",
    "IF",
    "IF age",
    "IF age <= 47",
    "IF age <= 47 THEN",
    "IF age <= 47 THEN perhaps",
    "IF age <= 47 THEN yess",
    "IF age <= 47 AND jbo = nurse THEN yes",
    "IF agee <= 47 THEN yes",
    "IF mean <= 47 THEN yes",
    "IF job <= 47 THEN yes",
    "IF 17 < job THEN yes",
    "IF job = nurze THEN yes",
    "IF job IN {nurse THEN yes",
    "IF job IN {nurse teacher} THEN yes",
    "IF job NOT {nurse} THEN yes",
    "IF age IN {1, 2} THEN yes",
    "IF smokes IN {TRUE} THEN yes",
    "IF smokes = 2 THEN yes",
    "IF smokes = maybe THEN yes",
    "IF age != 3 THEN yes",
    "IF age <= nurse THEN yes",
    "IF age <= 1e999 THEN yes",
    "IF age < -1.7976931348623157e308 THEN yes",
    "IF 3 = age THEN yes",
    "IF 3 < age > 2 THEN yes",
    "IF age <= 47 THEN yes WITH confidence 1.5",
    "IF age <= 47 THEN yes WITH confidence",
    "IF age <= 47 THEN yes WITH cover 3, correct 5",
    "IF age <= 47 THEN yes WITH cover -1e-05, correct 1e16",
    "IF age <= 47 THEN yes WITH trust 3",
    "IF age <= 47 THEN yes WITH cover 3, cover 5",
    "IF age <= 47 THEN yes WITH layer 3",
    "IF age <= 47 THEN yes WITH layer then",
    "IF age <= 47 THEN yes no",
    "IF age <= 47 THEN yes\nIF größe <= 1 AND\n  radius @ 3 THEN no",
    'IF "mean radius <= 3 THEN yes',
    'IF "mean \\radius" <= 3 THEN yes',
    'IF "mean \\x" <= 3 THEN yes',
    "IF 2nd_try <= 3 THEN yes",
    "IF age <= 4.7.1 THEN yes",
    "IF age <= 47 THEN 'yes'",
    "IF IF <= 3 THEN yes",
    "IF grade = 3 THEN yes",
    "IF grade = 2.5 THEN yes",
    "IF \U0001f600 <= 3 THEN yes",
    'IF "\U0001f600" <= 3 THEN yes',
    "IF TRUE AND age <= 3 THEN yes",
    "IF age <= 3 THEN yes; IF age > 3 THEN no",
    "IF age <= 3 \\ THEN yes",
    "FEATURE age NUMERIC",
    f"IF {'a' * 60} <= 3 THEN yes",
    f"IF {'a' * 101} <= 3 THEN yes",
    "IF ag <= 3 THEN yes",
    "IF a <= 3 THEN yes",
    "IF age <= 47 THEN yes WITH cover 1.7976931348623157e308, correct 1.7976931348623157e308",
    f"IF age <= 3 THEN {'x' * 60} WITH",
]


def reading(rules, text):
    """What Python makes of a text: the rule file, or the problem with its place."""
    try:
        read = rules.remove(slice(None)).add(text)
    except RuleTextError as error:
        problem = str(error).split("\n")[0].split(": ", 1)[1]
        return {"problem": problem, "line": error.line, "column": error.column}
    return json.loads(dumps(read))["rules"]


def in_words_of(labels, text):
    """The text with other classes in place of yes and no."""
    for label, mine in zip(labels, ("no", "yes"), strict=False):
        text = text.replace(f"THEN {mine}", f"THEN {label}").replace(f"then {mine}", f"then {label}")
    return text


@pytest.fixture
def page_about(open_report, tmp_path):
    def opened(rules):
        rules.report(tmp_path / "report.html")
        return open_report(tmp_path / "report.html")

    return opened


@pytest.mark.parametrize("kind", LABELS)
def test_texts_are_read_alike_and_what_is_wrong_is_said_in_the_same_words(kind, page_about):
    labels = LABELS[kind]
    rules = RuleSet.from_rules([], FEATURES, classes=labels, default=labels[0])
    # The texts conclude "yes" and "no"; with other labels each of those is a mistake to be pointed at.
    texts = [*RIGHT, *WRONG, *(in_words_of(labels, text) for text in [*RIGHT, *WRONG])]
    texts += [
        "IF TRUE THEN 2",
        "IF TRUE THEN 2.0",
        "IF TRUE THEN TRUE",
        "IF TRUE THEN 3.0",
        "IF TRUE THEN .25",
    ]
    page = page_about(rules)
    shown = page.evaluate("texts => texts.map(window.clausewise.tools.readText)", texts)
    found = {text: one if "problem" in one else one["rules"] for text, one in zip(texts, shown, strict=True)}
    expected = {text: reading(rules, text) for text in texts}
    assert found == expected
    n_right = sum(isinstance(one, list) for one in expected.values())
    assert n_right >= len(RIGHT) - 1
    assert len(expected) - n_right >= len(WRONG)


@pytest.mark.parametrize("seed", range(4))
def test_rules_are_written_alike(seed, page_about):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 5)
    rules = random_ruleset(rng, features, 60)
    assert (
        page_about(rules).evaluate("window.clausewise.tools.writeRules()")
        == rules.to_text(header=False).splitlines()
    )


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_names_numbers_and_labels_are_written_alike(labels, page_about):
    features = Features(
        ("if", "2nd", "a b", "x.y", "größe", 'quo"te', "line\nbreak", "c"),
        ("numeric",) * 7 + ("categorical",),
        (None,) * 7 + (("then", "1", "a-b"),),
    )
    numbers = [3.0, np.nextafter(3, 0), 0.1 + 0.2, 1e21, 1e-7, -5e-324, 5e-324, np.nextafter(47.5, 0), -1e308]
    rules = [
        Rule(
            (Term(i % 7, low=low), Term((i + 1) % 7, high=low), Term(7, values=["1", "then"])),
            labels[i % 2],
            confidence=0.25,
            origin=[None, Origin(), Origin("hidden 1"), Origin(None, "u > 1")][i % 4],
            priority=i % 3 == 0,
        )
        for i, low in enumerate(numbers)
    ]
    made = RuleSet.from_rules(rules, features, classes=labels, default=labels[0])
    page = page_about(made)
    assert page.evaluate("window.clausewise.tools.writeRules()") == made.to_text(header=False).splitlines()


def test_short_decimals_are_found_alike(page_about):
    rng = np.random.default_rng(0)
    gaps = []
    for scale in (1e-300, 1e-5, 1.0, 1e5, 1e300):
        for low in rng.normal(scale=scale, size=60).tolist():
            high = low + abs(low) * float(rng.choice([1e-15, 1e-9, 1e-3, 0.5])) + 5e-324
            gaps.append((low, high, float(rng.choice([low, high, (low + high) / 2]))))
    gaps = [gap for gap in gaps if gap[0] < gap[1]]
    page = page_about(RuleSet.from_rules([], FEATURES, classes=["no"], default="no"))
    found = page.evaluate("gaps => gaps.map(gap => window.clausewise.tools.shortestDecimal(...gap))", gaps)
    assert found == [shortest_decimal(*gap) for gap in gaps]
