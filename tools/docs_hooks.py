"""MkDocs hooks: the pages of the site that are not files in docs/, and links that leave docs/.

Pages in docs/ link to files elsewhere in the repository (`../CONTRIBUTING.md`, `../examples/demo.py`), which
works where the repository is browsed. In the site, such a link leads to the page made from that file, and is
plain text if there is none. Added are the pages at the root of the repository, the gallery (from the folder
that `tools/gallery.py` has written) and the API reference (from the names in docs/public-api.md).
"""

import importlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
GALLERY, ORDER = ROOT / "out" / "gallery", "order.txt"  # its pages, and their names in the order of the site
ROOT_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
# Sections of the navigation that are completed here, by the page that they begin with.
GALLERY_START, API_START = "gallery.md", "public-api.md"
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """Complete the navigation with the gallery and the API reference."""
    added = {
        GALLERY_START: [{_title(page): f"gallery/{page.name}"} for page in _gallery_pages()],
        API_START: [f"api/{module}.md" for module in public_names()],
    }
    for entry in config.nav or []:
        (section,) = entry.values()
        if isinstance(section, list) and isinstance(section[0], str) and section[0] in added:
            section += added[section[0]]
    return config


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages that are not in docs/."""
    from mkdocs.structure.files import File  # here, so that tests can import this module without MkDocs

    for name in ROOT_PAGES:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    if not (GALLERY / ORDER).exists():
        raise SystemExit("out/gallery is missing; run tools/gallery.py first, as `make docs` does.")
    for path in sorted(GALLERY.iterdir()):
        if path.name != ORDER:
            files.append(File.generated(config, f"gallery/{path.name}", abs_src_path=str(path)))
    for name, content in api_pages().items():
        files.append(File.generated(config, name, content=content))
    files.append(File.generated(config, "llms.txt", content=pages_for_language_models()))
    return files


def pages_for_language_models() -> str:
    """Return llms.txt with links to the pages of the site."""
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    text = re.sub(r"\]\((?:docs/)?((?:[\w-]+/)*)README\.md\)", r"](\1index.html)", text)
    return re.sub(r"\]\((?:docs/)?([\w/-]+)\.md\)", r"](\1.html)", text)


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Let links to files of the repository lead to their pages in the site."""
    name = page.file.src_uri
    if page.parent is None:
        page.meta["hide"] = ["navigation"]  # a page without neighbours needs no list of them
    elif name == GALLERY_START:
        page.meta["hide"] = ["toc"]  # room for three cards beside each other
    if name.startswith(("gallery/", "api/")):
        return markdown  # made for the site
    return with_site_links(with_cards(markdown) if name == GALLERY_START else markdown, name)


def with_cards(markdown: str) -> str:
    """Return the table of examples as a grid of cards, with the last figure of each example."""
    cards = []
    for title, script, text in re.findall(r"^\| \[(.*?)\]\((.*?)\) \| (.*?) \|$", markdown, re.MULTILINE):
        name = PurePosixPath(script).stem
        figures = sorted(GALLERY.glob(f"{name}-*.png"))
        picture = f"[![{title}](gallery/{figures[-1].name})]({script})\n\n    " if figures else ""
        cards.append(f"-   {picture}**[{title}]({script})**\n\n    {text}")
    grid = '<div class="grid cards" markdown>\n\n' + "\n\n".join(cards) + "\n\n</div>"
    return re.sub(
        r"^\| example \|.*?(?=^\n)", lambda _: grid + "\n", markdown, flags=re.DOTALL | re.MULTILINE
    )


def with_site_links(markdown: str, name: str) -> str:
    """Return a page of the repository, given by its name in the site, with links to pages of the site."""
    source = PurePosixPath(name) if name in ROOT_PAGES else "docs" / PurePosixPath(name)

    def site_link(match: re.Match[str]) -> str:
        exclamation, text, target, anchor = match.groups()
        found = site_name(posixpath.normpath(str(source.parent / target)))
        if found is None:
            return text
        relative = posixpath.relpath(found, posixpath.dirname(name) or ".")
        return f"{exclamation}[{text}]({relative}{anchor or ''})"

    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(site_link, part) for part in parts[::2]]
    return "".join(parts)


def site_name(path: str) -> str | None:
    """Return the name in the site of a file of the repository; None if it is not in the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path in (*ROOT_PAGES, "README.md"):
        return path
    if path.startswith("examples/") and (GALLERY / f"{PurePosixPath(path).stem}.md").exists():
        return f"gallery/{PurePosixPath(path).stem}.md"
    return None


def _gallery_pages() -> list[Path]:
    order = GALLERY / ORDER
    names = order.read_text(encoding="utf-8").split() if order.exists() else []
    return [GALLERY / f"{name}.md" for name in names]


def _title(page: Path) -> str:
    """Return the title of a page of the gallery, up to the colon: short enough for the navigation."""
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").partition(":")[0]


def public_names() -> dict[str, list[str]]:
    """Return the names of each public module, as docs/public-api.md lists them."""
    text = (ROOT / "docs" / "public-api.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \|", text, re.MULTILINE)
    return {module: re.findall(r"`(\w+)`", names) for module, names in rows}


def api_pages() -> dict[str, str]:
    """Return the pages of the API reference; each object is on the first page that names it."""
    pages, first_page = {}, {}
    for module_name, names in public_names().items():
        page_name, here, elsewhere = f"api/{module_name}.md", [], []
        for name, path in _documented(importlib.import_module(module_name), names):
            if path in first_page:
                elsewhere.append(f"[`{name}`]({PurePosixPath(first_page[path]).name}#{path})")
            else:
                first_page[path] = page_name
                here.append(f"::: {path}\n")
        links = f"Also here, described elsewhere: {', '.join(elsewhere)}.\n\n" if elsewhere else ""
        pages[page_name] = f"# {module_name}\n\n{links}" + "\n".join(here)
    return pages


def _documented(module: ModuleType, names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield names and paths of our classes and functions; constants, types and modules have no docstring."""
    for name in names:
        value: Any = getattr(module, name)
        if hasattr(value, "__qualname__") and value.__module__.startswith("clausewise"):
            yield name, f"{value.__module__}.{value.__qualname__}"
