"""Rule files: round trips are exact, damaged files are refused, and a failed save changes nothing."""

import copy
import json
import math
import os
import stat
import sys

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset

from clausewise import Features, Origin, Rule, RuleFileError, RuleSet, Term
from clausewise.io import atomic
from clausewise.io import json as rule_json
from clausewise.rules import RESIDUAL

FEATURES = Features(
    ("age", "job", "smokes", "zip"),
    ("numeric", "categorical", "binary", "categorical"),
    (None, ("cook", "nurse"), None, (8000, 9000)),
)
RULES = RuleSet.from_rules(
    [
        Rule((Term(0, low=30, high=47.5), Term(1, values=["nurse"])), "yes", 0.93, 120, 112),
        Rule((Term(2, low=0), Term(3, values=[9000])), "no", 0.61, 50.5, 30, 2.5, Origin("hidden 1", None)),
        Rule((), "no", 0.5, 400, 200),
        Rule((Term(0, missing=True), Term(1, missing=True)), "no", 0.7, 60, 42),
    ],
    FEATURES,
    default="no",
    voting="weights",
    base=[0.5, -2],
)
VALIDATOR = jsonschema.Draft202012Validator(rule_json.schema())
GOOD = json.loads(rule_json.dumps(RULES))


def load_text(tmp_path, text):
    path = tmp_path / "rules.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return RuleSet.load(path)


# --- Round trips ---


def test_a_saved_rule_set_comes_back_equal(tmp_path):
    RULES.save(tmp_path / "rules.json")
    again = RuleSet.load(str(tmp_path / "rules.json"))
    assert again == RULES
    assert list(again) == list(RULES)
    assert os.listdir(tmp_path) == ["rules.json"]


@pytest.mark.parametrize("scale", [0.25, 1.0, 3.0])
def test_the_scale_and_the_log_of_changes_come_back(scale):
    edited = RULES.with_scale(scale).remove(2, note="too general").reweight(0, weight=3.5)
    again = rule_json.loads(rule_json.dumps(edited))
    assert again == edited
    assert again.scale == scale
    assert again.changes == edited.changes
    assert [(change.action, change.rule) for change in again.changes] == [("removed", 2), ("reweighted", 0)]


@given(st.integers(0, 10**6), st.integers(0, 30))
def test_any_rule_set_comes_back_equal_and_satisfies_the_schema(seed, n_rules):
    rng = np.random.default_rng(seed)
    rules = random_ruleset(rng, random_features(rng, 5), n_rules)
    text = rule_json.dumps(rules)
    assert rule_json.loads(text) == rules
    assert rule_json.dumps(rule_json.loads(text)) == text
    VALIDATOR.validate(json.loads(text))


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_every_threshold_comes_back_bit_for_bit(low, high):
    rules = RuleSet.from_rules([Rule((Term(0, low=low, high=high),), "yes", weight=low)], ["x"], default="no")
    again = rule_json.loads(rule_json.dumps(rules))
    assert again.columns.low.tobytes() == rules.columns.low.tobytes()
    assert again.columns.high.tobytes() == rules.columns.high.tobytes()
    assert again.columns.weight.tobytes() == rules.columns.weight.tobytes()


@given(st.text(), st.text(), st.text(), st.text())
def test_any_text_can_be_a_name_a_category_a_label_or_an_origin(name, category, label, clause):
    features = Features((name,), ("categorical",), ((category,),))
    rule = Rule((Term(0, values=[category]),), label, origin=Origin(name, clause))
    # NumPy's text type drops trailing NULs; object arrays keep them.
    classes = np.array([label], dtype=object)
    rules = RuleSet.from_rules([rule], features, classes=classes, default=label)
    assert rule_json.loads(rule_json.dumps(rules).encode("utf-8")) == rules


def test_a_lone_surrogate_survives_a_file_in_utf8(tmp_path):
    rules = RuleSet.from_rules([], ["\ud800"], default="a")
    rules.save(tmp_path / "rules.json")
    assert RuleSet.load(tmp_path / "rules.json") == rules


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([0, 255], dtype=np.uint8),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([0.1, 2.0], dtype=np.float32),
        np.array([0.1, 1e300]),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_labels_come_back_with_their_type(classes):
    rules = RuleSet.from_rules([Rule((), classes[1])], ["x"], classes=classes, default=classes[0])
    text = rule_json.dumps(rules)
    again = rule_json.loads(text)
    assert again == rules
    assert again.classes.dtype == classes.dtype
    assert again.classes.tolist() == classes.tolist()
    VALIDATOR.validate(json.loads(text))


def test_open_ends_are_left_out_or_null():
    rules = RuleSet.from_rules([Rule((Term(0, high=3),), "yes")], ["x"], default="no")
    assert '{"feature": "x", "high": 3}' in rule_json.dumps(rules)
    assert rule_json.loads(rule_json.dumps(rules).replace('"high": 3', '"high": 3, "low": null')) == rules


def test_a_byte_order_mark_is_accepted():
    assert rule_json.loads(b"\xef\xbb\xbf" + rule_json.dumps(RULES).encode()) == RULES


def test_brackets_in_names_are_not_nesting():
    rules = RuleSet.from_rules([], ["[" * 100 + '\\"{' * 100], default="a")
    assert rule_json.loads(rule_json.dumps(rules)) == rules


def test_a_rule_is_one_line_of_the_file():
    lines = rule_json.dumps(RULES).splitlines()
    assert (
        '    {"if": [{"feature": "age", "low": 30, "high": 47.5}, {"feature": "job", "values": ["nurse"]}], '
        '"then": "yes", "confidence": 0.93, "cover": 120, "correct": 112, "weight": 1},'
    ) in lines


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(rule_json.schema())


# --- Damage ---


def changed(**changes):
    return GOOD | changes


def with_rule(**changes):
    damaged = copy.deepcopy(GOOD)
    damaged["rules"][0] |= changes
    return damaged


def with_term(**changes):
    damaged = copy.deepcopy(GOOD)
    damaged["rules"][0]["if"][0] = {"feature": "age", "low": 1} | changes
    return damaged


def with_feature(position, **changes):
    damaged = copy.deepcopy(GOOD)
    damaged["features"][position] |= changes
    return damaged


def without(key):
    return {name: value for name, value in GOOD.items() if name != key}


# (content of the file, expected message)
REFUSED_BY_SCHEMA = {
    "a list": ([], "this is not a rule file"),
    "a number": (3, "this is not a rule file"),
    "base votes that are text": (GOOD | {"base": ["1", 2]}, r"base\[0\] is \"1\"; expected a number"),
    "base votes that are a number": (GOOD | {"base": 3}, "base is 3; expected a list"),
    "null": (None, "this is not a rule file"),
    "another format": (changed(format="other"), "this is not a rule file"),
    "a newer version": (changed(version=3), "has version 3.*upgrade clausewise"),
    "the version of rules for numbers": (changed(version=2), 'voting is "weights"; expected one of sum'),
    "a huge version": (changed(version=10**30), "a huge number"),
    "version zero": (changed(version=0), "version is 0"),
    "version as text": (changed(version="1"), 'version is "1"'),
    "version as a list": (changed(version=[1]), "version is a list"),
    "an unknown key": (changed(comment="hello"), 'unknown key "comment"'),
    "an unknown vote": (changed(voting="loudest"), 'voting is "loudest"; expected one of'),
    "no classes": (changed(classes=[]), "at least one label"),
    "classes twice": (changed(classes=["no", "no"], rules=[]), "not all different"),
    "a class that is null": (changed(classes=["no", None]), r"classes\[1\] is null"),
    "classes as text": (changed(classes="no"), "classes is .* expected a list"),
    "an unknown type of label": (changed(class_dtype="datetime64"), "class_dtype is"),
    "an object as type of label": (changed(class_dtype={"a": 1}), "class_dtype is an object"),
    "default as a list": (changed(default=["no"]), "default is a list"),
    "named as a number": (changed(named=1), "named is 1; expected true or false"),
    "features as an object": (changed(features={}), "features is an object; expected a list"),
    "no features": (changed(features=[], rules=[]), "There are no features"),
    "a feature that is text": (
        changed(features=["age"], rules=[]),
        r"features\[0\] is \"age\"; expected an object",
    ),
    "a name that is a number": (with_feature(0, name=3), r"features\[0\].name is 3; expected text"),
    "an unknown kind": (with_feature(0, kind="ordinal"), r"features\[0\].kind is \"ordinal\""),
    "categories of a number": (with_feature(0, categories=["a"]), "others have none"),
    "an unknown key of a feature": (with_feature(0, unit="years"), 'unknown key "unit"'),
    "a category that is null": (with_feature(1, categories=["nurse", None]), r"categories\[1\] is null"),
    "a category twice": (with_feature(1, categories=["nurse", "nurse"]), "category twice"),
    "a scale of zero": (changed(scale=0), r"scale is 0\.0; expected a positive number"),
    "a scale below zero": (changed(scale=-0.5), "scale is -0.5; expected a positive number"),
    "a scale as text": (changed(scale="1"), 'scale is "1"; expected a number'),
    "a change of no rule": (
        changed(changes=[{"action": "removed", "rule": -1}]),
        r"changes\[0\]\.rule is -1; expected a whole number of 0 or more",
    ),
    "a change of half a rule": (
        changed(changes=[{"action": "removed", "rule": 0.5}]),
        r"changes\[0\]\.rule is 0\.5; expected a whole number of 0 or more",
    ),
    "an unknown change": (
        changed(changes=[{"action": "praised", "rule": 0}]),
        r'changes\[0\]\.action is "praised"; expected one of',
    ),
    "rules as null": (changed(rules=None), "rules is null; expected a list"),
    "a rule that is a list": (changed(rules=[[]]), r"rules\[0\] is a list; expected an object"),
    "an unknown key of a rule": (with_rule(lift=3), r"rules\[0\] has the unknown key \"lift\""),
    "a premise that is null": (with_rule(**{"if": None}), r"rules\[0\].if is null"),
    "a conclusion that is null": (with_rule(then=None), r"rules\[0\].then is null"),
    "a confidence above one": (with_rule(confidence=1.5), "between 0 and 1"),
    "a confidence that is true": (with_rule(confidence=True), "confidence is true; expected a number"),
    "a confidence as text": (with_rule(confidence="0.9"), "expected a number"),
    "a negative cover": (with_rule(cover=-1, correct=-1), "correct ≤ cover"),
    "a weight that is null": (with_rule(weight=None), "weight is null"),
    "an origin as text": (with_rule(origin="h1"), 'origin is "h1"; expected an object'),
    "a layer that is a number": (with_rule(origin={"layer": 1}), "layer is 1; expected text"),
    "an unknown key of an origin": (with_rule(origin={"path": "x"}), 'unknown key "path"'),
    "a term that is text": (with_rule(**{"if": ["age > 3"]}), r"if\[0\] is \"age > 3\"; expected an object"),
    "a threshold as text": (with_term(low="3"), r'low is "3"; expected a number'),
    "a threshold that is true": (with_term(low=True), "low is true; expected a number"),
    "a threshold that is a list": (with_term(high=[3]), "high is a list; expected a number"),
    "an unknown key of a term": (with_term(above=3), 'unknown key "above"'),
    "bounds and values": (with_term(values=["a"]), "which is numeric; expected low and high only"),
    "missing as false": (
        with_rule(**{"if": [{"feature": "age", "missing": False}]}),
        r"if\[0\].missing is false; expected true or no such key",
    ),
    "missing and bounds": (with_term(missing=True), 'tests whether "age" is missing; expected missing only'),
    "values as text": (
        with_rule(**{"if": [{"feature": "job", "values": "nurse"}]}),
        r'values is "nurse"; expected a list',
    ),
    "a value that is null": (
        with_rule(**{"if": [{"feature": "job", "values": [None]}]}),
        r"values\[0\] is null",
    ),
    "a feature by position": (with_term(feature=0), "feature is 0; expected text"),
    "a term without a feature": (with_rule(**{"if": [{"low": 1}]}), r"has no \"feature\""),
}
REFUSED_BY_SCHEMA |= {
    f"no {key}": (without(key), f'has no "{key}"')
    for key in sorted(GOOD.keys() - {"format", "version", "base"})
}
REFUSED_BY_SCHEMA |= {
    "no format": (without("format"), "this is not a rule file"),
    "no version": (without("version"), "version is null"),
}
# Contradictions between two places of a file, which a schema cannot express.
REFUSED_ONLY_BY_LOAD = {
    "an unknown feature": (
        with_term(feature="height"),
        r"if\[0\] tests \"height\", which is not one of the features",
    ),
    "a feature tested twice": (
        with_rule(**{"if": [{"feature": "age", "low": 1}, {"feature": "age", "high": 3}]}),
        r"rules\[0\] tests \"age\" twice",
    ),
    "an unknown category": (
        with_rule(**{"if": [{"feature": "job", "values": ["pilot"]}]}),
        r"values\[0\] is \"pilot\", which is not one of the categories",
    ),
    "true for a category that is 1": (
        with_feature(3, categories=[1, 9000])
        | {"rules": [GOOD["rules"][0] | {"if": [{"feature": "zip", "values": [True]}]}]},
        r"values\[0\] is true, which is not one of the categories",
    ),
    "an interval on a categorical feature": (
        with_term(feature="job"),
        "which is categorical; expected values only",
    ),
    "a set on a numeric feature": (
        with_rule(**{"if": [{"feature": "age", "values": [3]}]}),
        "which is numeric; expected low and high only",
    ),
    "an unknown conclusion": (with_rule(then="maybe"), 'then is "maybe", which is not one of the classes'),
    "base votes of another number": (changed(base=[1]), "base has 1 numbers for 2 classes"),
    "a base vote beyond doubles": (changed(base=[1, 10**400]), r"base\[1\] is too large for a double"),
    "an unknown default": (changed(default="maybe"), 'default is "maybe", which is not one of the classes'),
    "a label of another type": (
        changed(class_dtype="int64"),
        r"classes\[0\] is \"no\", which is not of type int64",
    ),
    "a label that is true": (
        changed(classes=[True, 2], class_dtype="int64", default=2, rules=[]),
        r"classes\[0\] is true, which is not of type int64",
    ),
    "a label that is a fraction": (
        changed(classes=[1.5], class_dtype="int64", default=1.5, rules=[]),
        r"classes\[0\] is 1.5, which is not of type int64",
    ),
    "a label beyond its type": (
        changed(classes=[300], class_dtype="uint8", default=300, rules=[]),
        "that uint8 cannot hold",
    ),
    "a float label beyond its type": (
        changed(classes=[1e300], class_dtype="float32", default=1e300, rules=[]),
        "that float32 cannot hold",
    ),
    "a name twice": (with_feature(2, name="age"), "Two columns are called 'age'"),
    "more correct than covered": (with_rule(cover=1, correct=2), "correct ≤ cover"),
    "a threshold beyond doubles": (with_term(low=10**400), "low is too large for a double"),
    "a category beyond doubles": (with_feature(3, categories=[10**400, 9000]), "too large for a double"),
}


def test_a_file_without_base_votes_starts_with_none():
    for content in ({key: GOOD[key] for key in GOOD if key != "base"}, GOOD | {"base": None}):
        VALIDATOR.validate(content)
        assert rule_json.loads(json.dumps(content)).base.tolist() == [0, 0]
    assert "base" not in json.loads(rule_json.dumps(RULES.with_weights([1, 2, 3, 4], base=[0, 0])))


def test_the_origin_of_a_residual_rule_comes_back():
    origin = Origin(RESIDUAL, "h3 > 0.5")
    assert str(origin) == "residual: h3 > 0.5"
    rules = RuleSet.from_rules([Rule((), "yes", origin=origin)], ["x"], default="yes")
    assert rule_json.loads(rule_json.dumps(rules))[0].origin == origin
    assert rules.to_frame()["layer"].tolist() == ["residual"]


@pytest.mark.parametrize("damage", REFUSED_BY_SCHEMA)
def test_damage_is_refused_by_load_and_by_the_schema(tmp_path, damage):
    content, message = REFUSED_BY_SCHEMA[damage]
    assert not VALIDATOR.is_valid(content)
    with pytest.raises(RuleFileError, match=message):
        load_text(tmp_path, json.dumps(content))


@pytest.mark.parametrize("damage", REFUSED_ONLY_BY_LOAD)
def test_contradictions_inside_a_file_are_refused_by_load(tmp_path, damage):
    content, message = REFUSED_ONLY_BY_LOAD[damage]
    with pytest.raises(RuleFileError, match=message):
        load_text(tmp_path, json.dumps(content))


TEXT = rule_json.dumps(RULES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: .*damaged or cut off"),
        ("hello", "damaged or cut off"),
        (TEXT + "}", "Extra data"),
        (TEXT.replace('"low": 30', '"low": NaN'), "NaN is not JSON and not a threshold"),
        (TEXT.replace('"low": 30', '"low": Infinity'), "Infinity is not JSON"),
        (TEXT.replace('"low": 30', '"low": -Infinity'), "-Infinity is not JSON"),
        (TEXT.replace('"low": 30', '"low": 1e999'), "low is too large for a double"),
        (TEXT.replace('"low": 30', '"low": ' + "9" * 5000), "thousands of digits"),
        (TEXT.replace('"low": 30', '"low": 1, "low": 30'), 'the key "low" appears twice'),
        (TEXT.replace('"version": 1', '"version": 1, "version": 1'), 'the key "version" appears twice'),
        (TEXT.encode("utf-16"), "byte 0 is not UTF-8"),
        (TEXT.encode().replace(b"nurse", b"n\xffrse"), "is not UTF-8"),
        (b"\x00" * 100, "damaged or cut off"),
        ("[" * 10_000 + "]" * 10_000, "nested more than 16 deep"),
        ("[" * 17 + "]" * 17, "nested more than 16 deep"),
        ("[" * 16 + "]" * 16, "this is not a rule file; expected an object"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested more than 16 deep"),
        ("[" * 10_000_000, "nested more than 16 deep"),
        (TEXT.replace('"if": [', '"if": [' + "[" * 10_000), "nested more than 16 deep"),
    ],
)
def test_text_that_is_not_a_rule_file_is_refused(tmp_path, text, message):
    with pytest.raises(RuleFileError, match=message):
        load_text(tmp_path, text)


def test_a_file_cut_off_anywhere_is_refused(tmp_path):
    data = TEXT.rstrip().encode()
    for length in range(0, len(data), 7):
        with pytest.raises(RuleFileError):
            load_text(tmp_path, data[:length])


@given(st.data())
def test_a_file_with_changed_bytes_is_read_or_refused(data):
    raw = bytearray(TEXT.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        rules = rule_json.loads(bytes(raw))
    except RuleFileError:
        return
    assert isinstance(rules, RuleSet)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(GOOD)), json_values)
def test_any_json_in_any_place_is_read_or_refused(key, value):
    for damaged in (
        changed(**{key: value}),
        with_rule(then=value),
        with_term(low=value),
        with_feature(1, categories=value),
    ):
        try:
            rule_json.loads(json.dumps(damaged))
        except RuleFileError:
            continue


def test_the_error_names_the_file(tmp_path):
    with pytest.raises(RuleFileError, match=f"{tmp_path.name}.rules.json: this is not a rule file"):
        load_text(tmp_path, "{}")


def test_a_raised_recursion_limit_does_not_make_nesting_dangerous(tmp_path):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        with pytest.raises(RuleFileError, match="nested"):
            load_text(tmp_path, "[" * 1_000_000)
    finally:
        sys.setrecursionlimit(limit)


def test_a_file_above_the_limit_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    path = tmp_path / "rules.json"
    RULES.save(path)
    size = path.stat().st_size
    assert RuleSet.load(path, max_bytes=size) == RULES
    monkeypatch.setattr(rule_json, "loads", None)
    with pytest.raises(RuleFileError, match=f"more than {size - 1:,} bytes.*pass a larger max_bytes"):
        RuleSet.load(path, max_bytes=size - 1)


def test_a_file_above_64_mebibytes_is_refused_by_default(tmp_path):
    path = tmp_path / "rules.json"
    with path.open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    with pytest.raises(RuleFileError, match="more than 67,108,864 bytes"):
        RuleSet.load(path)


@pytest.mark.parametrize("max_bytes", [0, -1, 1.5, "1", True])
def test_a_limit_is_a_positive_whole_number(tmp_path, max_bytes):
    with pytest.raises(ValueError, match=r"max_bytes is .*; expected a whole number of 1 or more"):
        RuleSet.load(tmp_path / "rules.json", max_bytes=max_bytes)


def test_a_billion_elements_are_refused_by_their_size(tmp_path):
    path = tmp_path / "rules.json"
    with path.open("wb") as file:
        file.truncate(2 * 10**9)  # a sparse file, which takes no space on disk
    with pytest.raises(RuleFileError, match="more than 67,108,864 bytes"):
        RuleSet.load(path)


def test_a_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        RuleSet.load(tmp_path / "nothing.json")


def test_nothing_in_a_file_is_executed(tmp_path):
    import pickle

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    with pytest.raises(RuleFileError):
        load_text(tmp_path, pickle.dumps(Bomb(), protocol=0))
    assert not (tmp_path / "executed").exists()


# --- Saving ---


class DiskError(OSError):
    pass


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace", "fdopen"])
@pytest.mark.parametrize("failure", [DiskError, KeyboardInterrupt])
def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, failure):
    path = tmp_path / "rules.json"
    RULES.save(path)
    before = path.read_bytes()

    def fail(*arguments, **options):
        raise failure

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(failure):
        RULES[:1].save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["rules.json"]
    assert RuleSet.load(path) == RULES


def test_permissions_are_kept(tmp_path):
    path = tmp_path / "rules.json"
    RULES.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~current_umask()
    path.chmod(0o640)
    RULES.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "rules.json"
    link = tmp_path / "link.json"
    link.symlink_to(target)
    RULES.save(link)
    assert link.is_symlink()
    assert RuleSet.load(target) == RULES


def test_saving_into_a_missing_folder_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        RULES.save(tmp_path / "nowhere" / "rules.json")


def test_infinite_bounds_never_reach_a_file():
    text = rule_json.dumps(RuleSet.from_rules([Rule((Term(0),), "yes")], ["x"], default="no"))
    assert "Infinity" not in text
    assert math.isinf(rule_json.loads(text)[0].terms[0].high)
