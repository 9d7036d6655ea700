"""PMML documents, run by an engine of the tests (and PMML4S and JPMML if installed), decide as `predict`."""

import shutil
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from tests.export.engines import pmml_decisions
from tests.export.export_cases import AWKWARD, cases, half_as_many, predicted, random_case, two_rules
from tests.export.pmml_engine import tag

from clausewise import Rule, RuleSet, Term
from clausewise.rules.voting import VOTINGS

needs_java = pytest.mark.skipif(
    shutil.which("java") is None, reason="Java, which runs the engine, is not installed"
)


def named(rules, row):
    return {name: value for name, value in zip(rules.features.names, row, strict=True) if value is not None}


@half_as_many
@given(cases)
def test_the_document_decides_as_predict_does(case):
    assert pmml_decisions(case.rules, case.rows) == case.expected


# --- Structure, as in the schema of PMML 4.4: attributes, and children in order ---

PREDICATES = ("SimplePredicate", "CompoundPredicate", "SimpleSetPredicate", "True", "False")
EXPRESSIONS = ("Constant", "FieldRef", "NormDiscrete", "Apply")
SCHEMA = {
    "PMML": ({"version"}, ["Header", "DataDictionary", "RuleSetModel|MiningModel"]),
    "Header": ({"description"}, ["Application"]),
    "Application": ({"name", "version"}, []),
    "DataDictionary": ({"numberOfFields"}, ["DataField*"]),
    "DataField": ({"name", "optype", "dataType"}, ["Value*"]),
    "Value": ({"value"}, []),
    "MiningModel": ({"functionName"}, ["MiningSchema", "Segmentation"]),
    "Segmentation": ({"multipleModelMethod"}, ["Segment*"]),
    "Segment": ({"id"}, ["|".join(PREDICATES), "RuleSetModel"]),
    "MiningSchema": (set(), ["MiningField*"]),
    "MiningField": ({"name", "usageType", "invalidValueTreatment"}, []),
    "RuleSetModel": (
        {"functionName", "algorithmName"},
        ["MiningSchema", "LocalTransformations?", "RuleSet"],
    ),
    "LocalTransformations": (set(), ["DerivedField*"]),
    "DerivedField": ({"name", "optype", "dataType"}, ["|".join(EXPRESSIONS)]),
    "RuleSet": ({"defaultScore", "defaultConfidence"}, ["RuleSelectionMethod", "SimpleRule*"]),
    "RuleSelectionMethod": ({"criterion"}, []),
    "SimpleRule": ({"id", "score", "confidence", "weight"}, ["|".join(PREDICATES)]),
    "SimplePredicate": ({"field", "operator", "value"}, []),
    "SimpleSetPredicate": ({"field", "booleanOperator"}, ["Array"]),
    "CompoundPredicate": ({"booleanOperator"}, ["|".join(PREDICATES) + "*"]),
    "Array": ({"n", "type"}, []),
    "True": (set(), []),
    "False": (set(), []),
    "Apply": ({"function", "mapMissingTo"}, ["|".join(EXPRESSIONS) + "*"]),
    "Constant": ({"dataType"}, []),
    "FieldRef": ({"field"}, []),
    "NormDiscrete": ({"field", "value", "mapMissingTo"}, []),
}


def require_structure(node):
    attributes, order = SCHEMA[tag(node)]
    assert set(node.attrib) <= attributes, tag(node)
    left = [tag(part) for part in node]
    for step in order:
        names = step.rstrip("*?").split("|")
        most = len(left) if step.endswith("*") else 1
        taken = 0
        while taken < most and taken < len(left) and left[taken] in names:
            taken += 1
        assert taken == 1 or step[-1] in "*?", f"{tag(node)} needs {step}"
        left = left[taken:]
    assert left == [], f"{tag(node)} must not hold {left}"
    for part in node:
        require_structure(part)


@half_as_many
@given(cases)
def test_elements_and_attributes_match_the_schema(case):
    require_structure(ET.fromstring(case.rules.to_pmml().encode()))


# --- Votes ---


def weights_of(rules):
    document = ET.fromstring(rules.to_pmml().encode())
    return [rule.get("weight") for rule in document.iter() if tag(rule) == "SimpleRule"]


def test_votes_are_whole_numbers_that_never_tie():
    # Votes are doubled for two classes; the default class, "no", starts with one more.
    assert weights_of(two_rules()) == ["1", "0", "1800", "1200"]


def test_shares_are_brought_to_a_common_divisor():
    rules = RuleSet.from_rules(
        [Rule((Term(0, low=i),), "ab"[i % 2 == 0]) for i in range(5)], ["x"], default="a", voting="share"
    )
    # a has 2 rules and b has 3: a rule of a weighs 3 · 2 (classes), a rule of b 2 · 2.
    assert weights_of(rules) == ["1", "0", "4", "6", "4", "6", "4"]
    rows = [[float(i)] for i in range(-1, 7)]
    assert pmml_decisions(rules, rows) == predicted(rules, rows)


def test_fitted_weights_are_added_in_the_order_of_the_rules():
    # (0.1 + 0.2) + 0.3 is more than 0.6 in doubles; 0.1 + (0.2 + 0.3) is not.
    rules = RuleSet.from_rules(
        [*(Rule((Term(0, low=0),), "yes", weight=w) for w in (0.1, 0.2, 0.3)), Rule((), "no", weight=0.6)],
        ["x"],
        default="no",
        voting="weights",
    )
    assert predicted(rules, [[1.0]]) == pmml_decisions(rules, [[1.0]]) == ["yes"]
    assert predicted(rules[[2, 1, 0, 3]], [[1.0]]) == pmml_decisions(rules[[2, 1, 0, 3]], [[1.0]]) == ["no"]


@pytest.mark.parametrize("voting", ["share", "weights"])
def test_many_rules_are_added_in_several_fields(voting):
    rng = np.random.default_rng(0)
    n_rules = 700
    rules = RuleSet.from_arrays(
        ["x"],
        [f"class {i}" for i in range(12)],
        "class 3",
        starts=np.arange(n_rules + 1),
        feature=np.zeros(n_rules, dtype=int),
        low=rng.normal(size=n_rules),
        high=np.full(n_rules, np.inf),
        class_index=rng.integers(0, 12, n_rules) ** 2 % 12,
        weight=rng.normal(size=n_rules),
        voting=voting,
    )
    rows = rng.normal(size=(20, 1)).tolist()
    assert pmml_decisions(rules, rows) == predicted(rules, rows)


def test_booleans_become_booleans():
    rules = RuleSet.from_rules([Rule((Term(0, low=1),), True)], ["x"], default=False)
    assert pmml_decisions(rules, [[0.0], [2.0]]) == [False, True]


# --- Text from data ---


@pytest.mark.parametrize("text", [*AWKWARD, "", "\r", "\x85\u2028", "\U0001f600"])
@pytest.mark.parametrize("voting", ["confidence", "weights"])
def test_text_from_data_stays_text(voting, text):
    rules = two_rules(text, text, text).with_weights([0.1, 0.2], base=[0.3, 0.7]).with_voting(voting)
    rows = [[30.0, text], [30.0, "cook"], [60.0, text]]
    assert pmml_decisions(rules, rows) == predicted(rules, rows)


def test_ten_megabytes_of_markup_are_one_category():
    text = '<"&>' * 2_500_000
    assert pmml_decisions(two_rules(category=text), [[1.0, text], [1.0, "cook"]]) == ["yes", "no"]


@pytest.mark.parametrize("character", ["\0", "\x0b", "\x1f", "\ud800", "\ufffe"])
@pytest.mark.parametrize("place", ["name", "category", "label"])
def test_characters_that_xml_cannot_hold_are_refused(character, place):
    with pytest.raises(ValueError, match="which XML cannot hold; rename it"):
        two_rules(**{place: f"a{character}b"}).to_pmml()


# --- Other engines and the schema itself ---

DRAWN = [random_case(seed, voting) for seed in range(12) for voting in VOTINGS]
# JPMML reads 32-bit integers only.
DRAWN = [case for case in DRAWN if 2**53 + 1 not in case.rules.labels]


@needs_java
def test_pmml4s_decides_as_predict_does():
    pypmml = pytest.importorskip("pypmml", reason="PMML4S is not installed (pip install pypmml)")
    for case in DRAWN:
        model = pypmml.Model.fromString(case.rules.to_pmml())
        for row, expected in zip(case.rows, case.expected, strict=True):
            found = model.predict({k: as_double(v) for k, v in named(case.rules, row).items()})
            assert as_double(next(iter(found.values()))) == as_double(expected)
    pypmml.Model.close()


@needs_java
def test_jpmml_decides_as_predict_does(tmp_path):
    jpmml = pytest.importorskip(
        "jpmml_evaluator", reason="JPMML is not installed (pip install jpmml_evaluator)"
    )
    backend = jpmml.make_backend("jpype")
    path = tmp_path / "rules.pmml"
    for case in DRAWN:
        path.write_bytes(case.rules.to_pmml().encode())
        evaluator = jpmml.make_evaluator(str(path), backend=backend).verify()
        for row, expected in zip(case.rows, case.expected, strict=True):
            values = dict(zip(case.rules.features.names, map(as_double, row), strict=True))
            assert next(iter(evaluator.evaluate(values).values())) == expected


def test_the_schema_accepts_the_documents():
    etree = pytest.importorskip("lxml.etree", reason="lxml, which checks schemas, is not installed")
    jpmml = pytest.importorskip(
        "jpmml_evaluator", reason="jpmml_evaluator, which contains pmml.xsd, is not installed"
    )
    (archive,) = Path(jpmml.__file__).parent.glob("dependencies/pmml-model-[0-9]*.jar")
    with zipfile.ZipFile(archive) as jar:
        schema = etree.XMLSchema(etree.fromstring(jar.read("pmml.xsd")))
    for case in DRAWN:
        schema.assertValid(etree.fromstring(case.rules.to_pmml().encode()))


def as_double(value):
    return float(value) if isinstance(value, int | float) else value
