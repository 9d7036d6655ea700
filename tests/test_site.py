"""The documentation site lists every page once, and its links, gallery and API reference are complete."""

import inspect
import re
from importlib import import_module

import pytest
import yaml
from tools import docs_hooks, figures, gallery

from tests.doc_blocks import ROOT

CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def pages_in(nav):
    """Return the names of all pages in a navigation, at any depth."""
    if isinstance(nav, str):
        return [nav]
    return [page for entry in (nav.values() if isinstance(nav, dict) else nav) for page in pages_in(entry)]


def test_the_navigation_lists_every_page_exactly_once():
    docs = ROOT / "docs"
    pages = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")]
    assert sorted(pages_in(CONFIG["nav"])) == sorted([*pages, *docs_hooks.ROOT_PAGES])


def test_the_site_fetches_nothing():
    assert CONFIG["theme"]["font"] is False
    assert CONFIG["strict"] is True
    assert "extra_javascript" not in CONFIG
    for stylesheet in CONFIG["extra_css"]:
        assert "http" not in (ROOT / "docs" / stylesheet).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "given", "expected"),
    [
        ("results/README.md", "[a](../rules.md#terms)", "[a](../rules.md#terms)"),
        ("public-api.md", "[a](../CONTRIBUTING.md)", "[a](CONTRIBUTING.md)"),
        ("results/README.md", "[a](../../README.md)", "[a](../README.md)"),
        ("ARCHITECTURE.md", "[a](docs/rules.md)", "[a](rules.md)"),
        ("ARCHITECTURE.md", "see [a](explorer/README.md).", "see a."),
        ("rules.md", "[a](https://semver.org) [b](#terms)", "[a](https://semver.org) [b](#terms)"),
        ("rules.md", "```\n[a](../LICENSE)\n```", "```\n[a](../LICENSE)\n```"),
    ],
)
def test_links_lead_to_pages_of_the_site(page, given, expected):
    assert docs_hooks.with_site_links(given, page) == expected


def test_links_to_examples_lead_to_the_gallery(tmp_path, monkeypatch):
    (tmp_path / "credit_risk.md").touch()
    monkeypatch.setattr(docs_hooks, "GALLERY", tmp_path)
    found = docs_hooks.with_site_links(
        "[a](../examples/credit_risk.py) [b](../examples/demo.py)", "gallery.md"
    )
    assert found == "[a](gallery/credit_risk.md) b"


def test_the_api_reference_describes_every_public_class_and_function_once():
    expected = set()
    for module_name, names in docs_hooks.public_names().items():
        values = [getattr(import_module(module_name), name) for name in names]
        ours = [value for value in values if inspect.isclass(value) or inspect.isfunction(value)]
        expected |= {f"{value.__module__}.{value.__qualname__}" for value in ours}
    described = re.findall(r"^::: (\S+)$", "\n".join(docs_hooks.api_pages().values()), re.MULTILINE)
    assert len(described) == len(set(described))
    assert set(described) == {path for path in expected if path.startswith("clausewise")}


def test_the_gallery_has_every_example_but_the_demo():
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert set(gallery.NAMES) == scripts - {"demo"}
    assert re.findall(r"^\| \[.*?\]\(\.\./examples/(\w+)\.py\)", page, re.MULTILINE) == list(gallery.NAMES)


def test_the_comparison_shows_the_recorded_fidelities():
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert figures.means_table() in page


def test_the_pictures_are_small_enough_for_a_readme():
    pictures = list((ROOT / "docs" / "pictures").iterdir())
    assert {
        f"{name}-{theme}" for name in ("overview", "fidelity", "eclaire") for theme in figures.THEMES
    } <= {picture.stem for picture in pictures}
    assert sum(picture.stat().st_size for picture in pictures) < 400_000


def test_every_picture_is_shown_on_a_page():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    names = {picture.name for picture in (ROOT / "docs" / "pictures").iterdir()}
    assert names == {name for name in names if f"pictures/{name}" in text}


def test_the_list_of_pages_for_language_models_leads_to_pages_of_the_site():
    pages = {name.removesuffix(".md") + ".html" for name in pages_in(CONFIG["nav"])}
    pages = {re.sub(r"README\.html$", "index.html", name) for name in pages}
    links = re.findall(r"\]\(([^)]*)\)", docs_hooks.pages_for_language_models())
    assert len(links) > 25
    assert set(links) <= pages
