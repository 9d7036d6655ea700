"""Files of rules for numbers: round trips, the schema, damage, and files of the first version."""

import copy
import json

import jsonschema
import pytest
from tests.doc_blocks import blocks
from tests.rules.regression_cases import RULES, TABLE

from clausewise import RegressionRules, RuleFileError, RuleSet
from clausewise.io import dumps, load_any, loads_any
from clausewise.io.json import schema

COUNTED = RULES.with_statistics(TABLE, RULES.predict(TABLE)).add("IF age > 90 THEN ADD -0.25", note="audit")
GOOD = json.loads(dumps(COUNTED))
VALIDATOR = jsonschema.Draft202012Validator(schema(2))

# As version 0.1 wrote it: such files must be read alike for ever.
FIRST_VERSION = """\
{
  "format": "clausewise-rules",
  "version": 1,
  "voting": "weights",
  "default": "no",
  "classes": ["no", "yes"],
  "class_dtype": "str",
  "named": true,
  "base": [0.25, 0],
  "scale": 2.5,
  "features": [
    {"name": "age", "kind": "numeric"},
    {"name": "job", "kind": "categorical", "categories": ["cook", "nurse"]}
  ],
  "rules": [
    {"if": [{"feature": "age", "high": 47}, {"feature": "job", "values": ["nurse"]}], "then": "yes", \
"confidence": 0.93, "cover": 120, "correct": 112, "weight": 1.5},
    {"if": [{"feature": "age", "missing": true}], "then": "no", "confidence": 1, "cover": 0, "correct": 0, \
"weight": 1, "priority": true, "origin": {"layer": "relu1", "clause": null}}
  ]
}
"""


def test_rules_come_back_equal_and_satisfy_the_schema(tmp_path):
    path = tmp_path / "rules.json"
    COUNTED.save(path)
    loaded = RegressionRules.load(path)
    assert loaded == COUNTED
    assert loaded.changes == COUNTED.changes
    assert loaded.predict(TABLE).tolist() == COUNTED.predict(TABLE).tolist()
    VALIDATOR.validate(GOOD)
    assert load_any(path) == COUNTED


def test_files_of_the_first_version_are_read_and_written_as_before():
    rules = loads_any(FIRST_VERSION)
    assert isinstance(rules, RuleSet)
    assert dumps(rules) == FIRST_VERSION
    assert rules.base.tolist() == [0.25, 0]
    assert [rule.priority for rule in rules] == [False, True]


def test_the_example_of_the_documentation_is_valid():
    examples = [block.text for block in blocks("docs/rule-file-format.md") if block.language == "json"]
    content = json.loads(examples[1])
    VALIDATOR.validate(content)
    assert json.loads(dumps(loads_any(examples[1]))) == content


def test_each_kind_is_refused_where_the_other_is_expected(tmp_path):
    numbers, classes = tmp_path / "numbers.json", tmp_path / "classes.json"
    COUNTED.save(numbers)
    classes.write_text(FIRST_VERSION, encoding="utf-8")
    with pytest.raises(RuleFileError, match=r"rules for numbers; read them with RegressionRules\.load"):
        RuleSet.load(numbers)
    with pytest.raises(RuleFileError, match=r"rules for classes; read them with RuleSet\.load"):
        RegressionRules.load(classes)


def damaged(path, value):
    """Return the good file with one place replaced, given as keys and positions."""
    content = copy.deepcopy(GOOD)
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["base"], "2", "base is"),
        (["link"], "logit", "link is"),
        (["voting"], "weights", "voting is"),
        (["linear", 0, "coefficient"], True, r"linear\[0\]\.coefficient is true"),
        (["linear", 0, "slope"], 1, "unknown key"),
        (["rules", 0, "add"], None, r"rules\[0\]\.add is null"),
        (["rules", 0, "then"], "yes", "unknown key"),
        (["rules", 0, "interval"], [1], "not an interval"),
        (["response"], 3, "response is 3"),
        (["response_range"], {}, "response_range is an object"),
        (["version"], 3, "upgrade clausewise"),
    ],
)
def test_damage_is_refused_by_load_and_by_the_schema(path, value, message):
    content = damaged(path, value)
    assert not VALIDATOR.is_valid(content)
    with pytest.raises(RuleFileError, match=message):
        loads_any(json.dumps(content))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["linear", 0, "feature"], "height", "not one of the features"),
        (["linear", 0, "feature"], "job", "categorical"),
        (["linear", 0, "fill"], 99, "low ≤ fill ≤ high"),
        (["rules", 0, "interval"], [2, 1], "not an interval"),
        (["rules", 0, "cover"], 1e999, "Infinity"),
    ],
)
def test_contradictions_are_refused(path, value, message):
    with pytest.raises(RuleFileError, match=message):
        loads_any(json.dumps(damaged(path, value)))
