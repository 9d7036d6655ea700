"""How errors show what a rule file holds in place of what is expected."""

import json

import pytest

from clausewise import RuleFileError, RuleSet


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2**64 - 1, "18446744073709551615"),
        (-(2**64) + 1, "-18446744073709551615"),
        (2**64, "a huge number"),
        (-(2**64), "a huge number"),
        ("x" * 58, '"' + "x" * 58 + '"'),
        ("x" * 59, '"' + "x" * 59 + "…"),
        ([1], "a list"),
        ({}, "an object"),
        (None, "null"),
        (True, "true"),
    ],
)
def test_a_wrong_value_is_shown_in_short(tmp_path, value, shown):
    path = tmp_path / "a.rules.json"
    RuleSet.from_rules([], ["x"], default="a", classes=["a", "b"]).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["voting"] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(RuleFileError) as raised:
        RuleSet.load(path)
    assert f"voting is {shown}; expected one of" in str(raised.value)
