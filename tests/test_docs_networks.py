"""The examples in the documentation of networks are run, and show what they really print."""

import os

import pytest

from tests.doc_blocks import run_examples


def test_the_examples_print_what_the_page_shows(capsys):
    for framework in ("torch", "onnx"):
        pytest.importorskip(framework, reason=f"{framework} is not installed")
    os.environ.setdefault("KERAS_BACKEND", "torch")
    pytest.importorskip("keras", reason="Keras is not installed")
    assert run_examples("docs/networks.md", capsys) == 8
