"""Names and values that try to break out of their context stay plain text in every format."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pytest

from clausewise import Features, Origin, Rule, RuleSet, Term
from clausewise.io import json as rule_json
from tests.fuzz.targets import assert_only_own_tags

HOSTILE = [
    "a = b",
    " spaces  around ",
    'it\'s "quoted" `thrice`',
    "back\\slash\\",
    "new\nline\r\ntab\t",
    "</script><script>alert(1)</script>",
    "<!-- <script> ]]> -->",
    "'; DROP TABLE rules; --",
    "&lt;&amp;#60;",
    "{{7*7}} ${x} %s {0}",
    "IF age <= 3 THEN yes",
    "naïve Grüße 日本 🂡 \u202e\u2028\u200b\ufeff",
    "\x00\x07\x1b[31m",
    "__class__",
    "",
]
TEN_MEGABYTES = "'\"<&\\\n=é" + "x" * 10 * 2**20


def rules_about(text, voting="weights"):
    """Return rules with this text as a category, and its beginning as every other name."""
    name = text[:1000]
    features = Features(("x", name), ("numeric", "categorical"), (None, (text, "other")))
    classes = np.array([name, "no " + name], dtype=object)
    rules = [
        Rule((Term(0, high=3), Term(1, values=[text])), name, 0.9, 10, 9, 2.0, Origin(name, name)),
        Rule((Term(0, low=3),), "no " + name, 0.8),
    ]
    made = RuleSet.from_rules(rules, features, classes=classes, default=name, voting=voting)
    return made.reweight(1, weight=3, note=name)


@pytest.mark.parametrize("text", [*HOSTILE, TEN_MEGABYTES], ids=lambda text: repr(text[:20]))
def test_any_text_comes_back_from_json_and_from_the_rule_language(text):
    rules = rules_about(text)
    again = rule_json.loads(rule_json.dumps(rules).encode("utf-8"))
    assert again == rules
    assert again.changes == rules.changes
    assert RuleSet.from_text(rules.to_text()) == rules


@pytest.mark.parametrize("text", [*HOSTILE, TEN_MEGABYTES], ids=lambda text: repr(text[:20]))
def test_any_text_is_shown_by_notebooks_as_text(text):
    rules = rules_about(text)
    rows = np.array([[1.0, text]], dtype=object)
    explained = rules.explain(rows)
    for shown in (
        rules,
        rules[0],
        rules.scorecard(),
        rules.with_voting("confidence"),
        rules.evaluate(rows, network=[rules.default]),
        explained,
        explained[0],
        rules.explain_global(rows),
        rules.compare(rules[:1], rows),
        rules.counterfactuals(rows),
        rules.counterfactuals(rows)[0],
    ):
        assert_only_own_tags(shown._repr_html_())
    assert rules.predict(rows).tolist() == [text[:1000]]


class Scripts(HTMLParser):
    """Collects the scripts of a page: their attributes and contents."""

    def __init__(self):
        super().__init__()
        self.found, self._inside = [], False

    def handle_starttag(self, tag, attributes):
        self._inside = tag == "script"
        if self._inside:
            self.found.append([dict(attributes), ""])

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.found[-1][1] += data


@pytest.mark.parametrize("text", [*HOSTILE[:-1], TEN_MEGABYTES], ids=lambda text: repr(text[:20]))
def test_any_text_in_a_report_is_data(tmp_path, text):
    rules = rules_about(text)
    rules.report(tmp_path / "report.html", title=text[:1000])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    scripts = Scripts()
    scripts.feed(page)
    assert len(scripts.found) == 2  # the data, and the program
    (payload,) = [held for attributes, held in scripts.found if attributes.get("id") == "clausewise-payload"]
    assert text in texts_in(json.loads(payload))


def texts_in(value):
    """Return all texts in a JSON value."""
    if isinstance(value, dict | list):
        inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        return set().union(*(texts_in(part) for part in inner))
    return {value} if isinstance(value, str) else set()


def test_ten_megabytes_are_one_value_in_pmml_and_python():
    text = TEN_MEGABYTES
    rules = rules_about(text, voting="confidence")
    values = {
        value for node in ElementTree.fromstring(rules.to_pmml()).iter() for value in node.attrib.values()
    }
    assert text in values
    module = {}
    exec(compile(rules.to_python(), "exported", "exec"), module)
    assert module["predict"]({"x": 1.0, text[:1000]: text}) == text[:1000]


def test_a_hostile_name_in_graphviz_stays_inside_its_quotes():
    for text in HOSTILE[:-1]:
        dot = rules_about(text, voting="confidence").to_graphviz()
        # Without its quoted strings, the text is only grammar.
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', dot, flags=re.DOTALL)
        assert '"' not in bare.replace('""', "")
        assert "DROP" not in bare
        assert "script" not in bare


def test_errors_about_a_file_or_a_text_do_not_repeat_ten_megabytes():
    rules, small = rules_about(TEN_MEGABYTES), rules_about("y")
    for call in (
        lambda: rule_json.loads(rule_json.dumps(small).replace('"then": ', '"then": "x', 1)),
        lambda: rules.add(f"IF {json.dumps(TEN_MEGABYTES)} <= 3 THEN y"),
        lambda: rules.add(f"IF {json.dumps(TEN_MEGABYTES[:1000])} = nobody THEN y"),
        lambda: RuleSet.from_text("FEATURE x NUMERIC\n" + "y" * 10**7),
        lambda: rule_json.loads(
            re.sub('"name": "[xy]"', '"name": "' + "x" * 10**7 + '"', rule_json.dumps(small))
        ),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert len(str(caught.value)) < 2_000
