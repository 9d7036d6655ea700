"""The examples in the documentation of rules are run, and show what they really print."""

import json
import re
from pathlib import Path

from clausewise.io import json as rule_json

DOCS = Path(__file__).parents[1] / "docs"


def block(text, language):
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE).group(1)


def test_the_example_prints_what_the_page_shows(capsys):
    page = (DOCS / "rules.md").read_text(encoding="utf-8")
    exec(block(page, "python"), {})
    assert capsys.readouterr().out == block(page.split("```python", 1)[1].split("```", 1)[1], "")


def test_the_example_file_is_what_save_writes():
    example = block((DOCS / "rule-file-format.md").read_text(encoding="utf-8"), "json")
    assert rule_json.dumps(rule_json.loads(example)) == example
    assert set(json.loads(example)) == set(rule_json.schema()["properties"])
