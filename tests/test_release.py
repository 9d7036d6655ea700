"""Files that name the version agree with the package."""

import re
from importlib.metadata import version

from tools.check_release import problems

from tests.shared import ROOT


def test_the_package_and_its_citation_have_the_same_version():
    found = [problem for problem in problems(f"v{version('clausewise')}") if "CHANGELOG" not in problem]
    assert found == []


def test_a_tag_of_another_version_is_refused():
    assert any("the tag is v99.0" in problem for problem in problems("v99.0"))


def test_a_release_needs_a_dated_heading_in_the_changelog():
    released = version("clausewise")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    is_dated = re.search(rf"^## {re.escape(released)}, \d{{4}}-", changelog, re.MULTILINE) is not None
    assert any("CHANGELOG" in problem for problem in problems(f"v{released}")) != is_dated
