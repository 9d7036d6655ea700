"""Check that all files name the version to be released: `python tools/check_release.py v0.2.0`."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str) -> list[str]:
    """Return what has to be changed before `tag` can be released."""
    version = tomllib.loads(_text("pyproject.toml"))["project"]["version"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but pyproject.toml has version {version}")
    cited = re.search(r"^version: (\S+)$", _text("CITATION.cff"), re.MULTILINE)
    if cited is None or cited[1] != version:
        found.append(f"CITATION.cff does not have `version: {version}`")
    if not re.search(rf"^## {re.escape(version)}, \d{{4}}-\d\d-\d\d$", _text("CHANGELOG.md"), re.MULTILINE):
        found.append(f"CHANGELOG.md has no heading `## {version}, YYYY-MM-DD`")
    return found


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/check_release.py TAG")
    found = problems(sys.argv[1])
    if found:
        sys.exit(f"{sys.argv[1]} cannot be released: {'; '.join(found)}.")
