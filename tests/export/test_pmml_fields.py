"""The fields that a PMML document declares; engines refuse or ignore values that are not listed."""

import xml.etree.ElementTree as ET

from clausewise import Features, Rule, RuleSet, Term

PMML = "{http://www.dmg.org/PMML-4_4}"


def declared(rules):
    root = ET.fromstring(rules.to_pmml())
    return {
        field.get("name"): (
            field.get("optype"),
            field.get("dataType"),
            [value.get("value") for value in field.iter(f"{PMML}Value")],
        )
        for field in root.iter(f"{PMML}DataField")
    }


def test_text_features_list_their_categories_and_the_target_its_classes_by_rank():
    features = Features(
        ("age", "job", "zip"),
        ("numeric", "categorical", "categorical"),
        (None, ("cook", "nurse"), (8000, 9000)),
    )
    rules = RuleSet.from_rules([], features, default="yes", classes=["no", "yes"])
    *inputs, target = declared(rules).items()
    assert inputs == [
        ("age", ("continuous", "double", [])),
        ("job", ("categorical", "string", ["cook", "nurse"])),
        ("zip", ("continuous", "double", [])),
    ]
    assert target[1] == ("categorical", "string", ["yes", "no"])


def test_a_feature_that_is_tested_for_missing_values_lists_no_categories():
    # Engines treat a text that is not listed as missing.
    features = Features(("job",), ("categorical",), (("cook", "nurse"),))
    rules = RuleSet.from_rules([Rule((Term(0, missing=True),), "yes")], features, default="no")
    assert declared(rules)["job"] == ("categorical", "string", [])


def test_the_number_of_fields_counts_the_target():
    root = ET.fromstring(RuleSet.from_rules([], ["x", "y"], default="a", classes=["a", "b"]).to_pmml())
    dictionary = root.find(f"{PMML}DataDictionary")
    assert int(dictionary.get("numberOfFields")) == len(dictionary) == 3
