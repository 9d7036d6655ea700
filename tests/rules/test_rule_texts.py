"""Every text of the corpus is read as the corpus says."""

import pytest
from tests.corpus.rule_texts import (
    PATH,
    as_text,
    corpus,
    read_document,
    read_rules,
    regenerated,
    vocabulary,
)

CORPUS = corpus()
KNOWN = {name: vocabulary(name) for name in CORPUS["vocabularies"]}


def expected(case):
    return {key: case[key] for key in ("rules", "rule_file", "error") if key in case}


@pytest.mark.parametrize("name", KNOWN)
def test_rules_are_read_as_expected(name):
    cases = [case for case in CORPUS["rules"] if case["vocabulary"] == name]
    found = {case["text"]: read_rules(KNOWN[name], case["text"]) for case in cases}
    assert found == {case["text"]: expected(case) for case in cases}


@pytest.mark.parametrize("name", ["text", None])
def test_documents_are_read_as_expected(name):
    cases = [case for case in CORPUS["documents"] if case["vocabulary"] == name]
    found = {case["text"]: read_document(KNOWN.get(name), case["text"]) for case in cases}
    assert found == {case["text"]: expected(case) for case in cases}


def test_the_corpus_holds_right_and_wrong_texts_about_every_vocabulary_once():
    texts = [(case["vocabulary"], case["text"]) for case in CORPUS["rules"]]
    assert len(set(texts)) == len(texts)
    for name in KNOWN:
        kinds = [set(expected(case)) for case in CORPUS["rules"] if case["vocabulary"] == name]
        assert {"rules"} in kinds
        assert {"error"} in kinds
    assert {case["vocabulary"] for case in CORPUS["documents"]} == {"text", None}


def test_the_corpus_is_written_as_its_command_writes_it():
    assert PATH.read_text(encoding="utf-8") == as_text(regenerated())
