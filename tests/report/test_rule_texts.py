"""The browser reads and writes the rule language as Python does, down to the wording of errors."""

import numpy as np
import pytest

from clausewise import Features, Origin, Rule, RuleSet, Term
from clausewise.rules import display
from clausewise.rules.decimals import shortest_decimal
from clausewise.rules.voting import VOTINGS
from tests.corpus.rule_texts import corpus, read_rules, vocabulary
from tests.reference import rules as reference
from tests.rules.random_rules import random_features, random_ruleset

CORPUS = corpus()
# Vocabularies with the same features and classes of different types.
LABELS = {name: vocabulary(name).labels for name in ("text", "floats", "whole", "truth")}


def in_words_of(labels, text):
    """The text with other classes in place of no and yes."""
    for label, mine in zip(labels, ("no", "yes"), strict=False):
        text = text.replace(f"THEN {mine}", f"THEN {label}").replace(f"then {mine}", f"then {label}")
    return text


@pytest.fixture
def page_about(open_report, tmp_path):
    def opened(rules):
        rules.report(tmp_path / "report.html")
        return open_report(tmp_path / "report.html")

    return opened


def read_in_browser(page, texts):
    found = page.evaluate("texts => texts.map(window.clausewise.tools.readText)", texts)
    return {
        text: {"rules": one["rules"]} if "rules" in one else {"error": one["error"]}
        for text, one in zip(texts, found, strict=True)
    }


@pytest.mark.parametrize("name", CORPUS["vocabularies"])
def test_the_browser_reads_the_corpus_as_expected(name, page_about):
    cases = [case for case in CORPUS["rules"] if case["vocabulary"] == name]
    expected = {case["text"]: {key: case[key] for key in ("rules", "error") if key in case} for case in cases}
    assert read_in_browser(page_about(vocabulary(name)), list(expected)) == expected


@pytest.mark.parametrize("name", LABELS)
def test_texts_about_other_classes_are_read_alike(name, page_about):
    rules = vocabulary(name)
    # The texts predict "yes" and "no"; where the classes are others, each of those is a mistake to point at.
    texts = [case["text"] for case in CORPUS["rules"] if case["vocabulary"] == "text"]
    texts = list(dict.fromkeys([*texts, *(in_words_of(LABELS[name], text) for text in texts)]))
    expected = {text: read_rules(rules, text) for text in texts}
    assert read_in_browser(page_about(rules), texts) == expected
    n_right = sum("rules" in one for one in expected.values())
    assert n_right >= 60
    assert len(texts) - n_right >= 100


@pytest.mark.parametrize("seed", range(4))
def test_rules_are_written_shown_and_counted_alike(seed, page_about):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 5)
    rules = random_ruleset(rng, features, 60, voting=VOTINGS[seed])
    page = page_about(rules)
    assert page.evaluate("window.clausewise.tools.writeRules()") == rules.to_text(header=False).splitlines()
    premises = [display.describe_premise(rules.columns, number, features) for number in range(60)]
    conclusions = [rules.describe_parts(number)[1] for number in range(60)]
    assert page.evaluate("window.clausewise.tools.describeRules()") == [
        f"IF {premise} THEN {conclusion}" for premise, conclusion in zip(premises, conclusions, strict=True)
    ]
    costs = [reference.reading_cost(rule, features.n_categories.tolist()) for rule in rules]
    found = page.evaluate("window.clausewise.tools.readingCosts()")
    assert found == {"rules": costs, "all": sum(costs)}


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
    page = page_about(vocabulary("text"))
    found = page.evaluate("gaps => gaps.map(gap => window.clausewise.tools.shortestDecimal(...gap))", gaps)
    assert found == [shortest_decimal(*gap) for gap in gaps]
