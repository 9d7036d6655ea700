"""The corpus of rule texts that the Python reader and the reader of the report's page must read alike.

rule_texts.json holds

- `vocabularies`: rule files without rules, by name; their features and classes are what texts may name;
- `rules`: texts without a header, which both read (tests/rules/test_rule_texts.py and, in a browser,
  tests/report/test_rule_texts.py);
- `documents`: texts with a header, which only Python reads; `vocabulary` is null where nothing else is given.

Each case expects `rules` (as in a rule file; for documents a whole `rule_file`) or an `error`. To add a case,
add its `vocabulary` and `text`. After that, or after a deliberate change of the language,

    python -m tests.corpus.rule_texts

fills in what the Python reader gives; review the diff, which is the expectation from then on.
"""

import json
from pathlib import Path
from typing import Any

from clausewise import RuleSet, RuleTextError
from clausewise.io.json import dumps, loads

PATH = Path(__file__).with_suffix(".json")


def corpus() -> dict[str, Any]:
    return json.loads(PATH.read_text(encoding="utf-8"))


def vocabulary(name: str) -> RuleSet:
    """A rule set without rules, whose features and classes a text may name."""
    return loads(json.dumps(corpus()["vocabularies"][name]))


def read_rules(known: RuleSet, text: str) -> dict[str, Any]:
    """What Python reads in a text without header."""
    try:
        return {"rules": json.loads(dumps(known.add(text)))["rules"]}
    except RuleTextError as error:
        return {"error": described(error)}


def read_document(known: RuleSet | None, text: str) -> dict[str, Any]:
    """What Python reads in a text with a header."""
    given = {} if known is None else {"classes": known.classes, "default": known.default}
    try:
        rules = RuleSet.from_text(text, None if known is None else known.features, **given)
        return {"rule_file": json.loads(dumps(rules))}
    except RuleTextError as error:
        return {"error": described(error)}


def described(error: RuleTextError) -> dict[str, Any]:
    """The place of an error and its message, without the lines that show the place."""
    message = str(error).split("\n")[0].split(": ", 1)[1]
    return {"message": message, "line": error.line, "column": error.column}


def regenerated() -> dict[str, Any]:
    """The corpus with what Python reads now."""
    old = corpus()
    known = {name: vocabulary(name) for name in old["vocabularies"]} | {None: None}
    given = ("about", "vocabulary", "text")
    return {
        "vocabularies": old["vocabularies"],
        **{
            part: [
                {key: case[key] for key in given if key in case}
                | read(known[case["vocabulary"]], case["text"])
                for case in old[part]
            ]
            for part, read in (("rules", read_rules), ("documents", read_document))
        },
    }


def as_text(content: dict[str, Any]) -> str:
    """JSON with one line per field of a case, so that differences are easy to review."""

    def compact(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    def case_text(case: dict[str, Any]) -> str:
        return "  {\n" + ",\n".join(f"   {compact(k)}: {compact(v)}" for k, v in case.items()) + "\n  }"

    vocabularies = ",\n".join(f"  {compact(k)}: {compact(v)}" for k, v in content["vocabularies"].items())
    parts = [f' "vocabularies": {{\n{vocabularies}\n }}']
    parts += [
        f' "{part}": [\n' + ",\n".join(map(case_text, content[part])) + "\n ]"
        for part in ("rules", "documents")
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(as_text(regenerated()), encoding="utf-8")
