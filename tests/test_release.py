"""Files that name the version agree with the package, and built distributions hold what they should."""

import re
import tomllib
from importlib.metadata import version

import pytest
from tools.check_dist import REQUIRED_SOURCES, VERSION, sdist_problems, wheel_problems
from tools.check_release import problems

from tests.shared import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WHEEL = f"clausewise-{VERSION}-cp312-abi3-manylinux_2_28_x86_64.whl"


@pytest.fixture(scope="module")
def names():
    """Return the names of the files in a wheel: what is in the packages, and what the build adds."""
    packages = (ROOT / "src" / "clausewise", ROOT / "experiments" / "clausewise_experiments")
    files = [
        path.relative_to(package.parent).as_posix()
        for package in packages
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".md")
    ]
    info = f"clausewise-{VERSION}.dist-info"
    licenses = [f"licenses/{name}" for name in PROJECT["license-files"]]
    added = [f"{info}/{name}" for name in ("METADATA", "RECORD", "entry_points.txt", *licenses)]
    return [*files, *added, "clausewise/_core.abi3.so"]


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


def test_a_wheel_of_the_packages_is_complete_and_has_nothing_else(names):
    assert wheel_problems(WHEEL, names) == []


@pytest.mark.parametrize(
    "name",
    [
        "tests/golden/case.json",
        "clausewise/tests/test_rules.py",
        "clausewise/rules/test_rules.py",
        "clausewise/rows.csv",
        "clausewise_experiments/data/magic.csv",
    ],
)
def test_data_and_tests_in_a_wheel_are_found(names, name):
    assert wheel_problems(WHEEL, [*names, name]) == [f"{name} does not belong into the wheel"]


@pytest.mark.parametrize("name", ["clausewise/py.typed", "clausewise/report/assets/explorer.js"])
def test_files_that_a_wheel_lacks_are_found(names, name):
    assert wheel_problems(WHEEL, [other for other in names if other != name]) == [f"{name} is missing"]


def test_the_python_versions_that_are_tested_are_those_that_are_promised():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    tested = re.findall(r"3\.\d+", re.search(r"python: \[(.*)\]", workflow)[1])
    promised = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert promised == tested
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_a_wheel_without_the_core_is_refused(names):
    without = [name for name in names if not name.endswith(".so")]
    assert wheel_problems(WHEEL, without) == ["the compiled core is missing"]


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (f"clausewise-{VERSION}-cp312-abi3-linux_x86_64.whl", "for this machine only"),
        (f"clausewise-{VERSION}-cp313-cp313-manylinux_2_28_x86_64.whl", "not for the stable ABI"),
        ("clausewise-99.0-cp312-abi3-manylinux_2_28_x86_64.whl", "not a wheel of clausewise"),
    ],
)
def test_a_wheel_for_other_systems_or_versions_is_refused(names, file, problem):
    (found,) = wheel_problems(file, names)
    assert problem in found


def test_a_source_distribution_has_the_sources_and_nothing_that_was_built():
    folder = f"clausewise-{VERSION}"
    sources = [f"{folder}/{pattern.replace('*', 'base/file')}" for pattern in REQUIRED_SOURCES]
    assert sdist_problems(f"{folder}.tar.gz", sources) == []
    assert sdist_problems(f"{folder}.tar.gz", sources[1:]) == ["CMakeLists.txt is missing"]
    (found,) = sdist_problems(f"{folder}.tar.gz", [*sources, f"{folder}/build/old/_core.abi3.so"])
    assert "does not belong" in found
    assert sdist_problems("clausewise-99.0.tar.gz", sources) != []
