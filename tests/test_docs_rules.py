"""The examples in the documentation of rules are run, and show what they really print."""

import json

import matplotlib as mpl
from matplotlib import pyplot as plt

from clausewise.io import json as rule_json
from tests.doc_blocks import first_block, run_examples


def test_the_examples_print_what_the_page_shows(capsys, monkeypatch, tmp_path):
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    assert run_examples("docs/rules.md", capsys) == 5
    plt.close("all")
    assert len(list(tmp_path.glob("*.png"))) == 4


def test_the_example_file_is_what_save_writes():
    example = first_block("docs/rule-file-format.md", "json")
    assert rule_json.dumps(rule_json.loads(example)) == example
    assert set(json.loads(example)) == set(rule_json.schema()["properties"])
