"""Check what a built wheel and source distribution contain: `python tools/check_dist.py dist`."""

import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

# Everything that a wheel may contain; `*` also matches folders. Data of tests and experiments stays out.
ALLOWED = (
    "clausewise/*.py",
    "clausewise/*/*.schema.json",
    "clausewise/_core.*",
    "clausewise/py.typed",
    "clausewise/report/assets/explorer.css",
    "clausewise/report/assets/explorer.js",
    "clausewise_experiments/*.py",
    "clausewise_experiments/paper.csv",
    "clausewise_experiments/tasks/*.toml",
    "clausewise-*.dist-info/*",
)
FORBIDDEN = ("*/tests/*", "*/test_*.py", "*/conftest.py", "*/__pycache__/*")
REQUIRED = (
    "clausewise/__init__.py",
    "clausewise/_core.pyi",
    "clausewise/py.typed",
    "clausewise/io/rules.schema.json",
    "clausewise/io/numbers.schema.json",
    "clausewise/report/payload.schema.json",
    "clausewise/report/number_payload.schema.json",
    "clausewise/report/assets/explorer.css",
    "clausewise/report/assets/explorer.js",
    "clausewise-*.dist-info/licenses/LICENSE",
    "clausewise-*.dist-info/licenses/THIRD-PARTY-LICENSES.txt",
    "clausewise-*.dist-info/entry_points.txt",
)
REQUIRED_SOURCES = (
    "CMakeLists.txt",
    "LICENSE",
    "README.md",
    "THIRD-PARTY-LICENSES.txt",
    "pyproject.toml",
    "core/*.cpp",
    "core/*.hpp",
    "tests/smoke.py",
)
FORBIDDEN_SOURCES = (".venv/*", "build/*", "dist/*", "out/*", "*/node_modules/*", "*/__pycache__/*", "*.so")


def wheel_problems(file_name: str, names: Iterable[str]) -> list[str]:
    """Return what is wrong with the name of a wheel and the names of the files in it."""
    names = list(names)
    tag = re.fullmatch(rf"clausewise-{re.escape(VERSION)}-cp(\d)(\d+)-(\w+)-([\w.]+)\.whl", file_name)
    if tag is None:
        return [f"{file_name} is not a wheel of clausewise {VERSION}"]
    found = []
    if int(tag[2]) >= 12 and tag[3] != "abi3":
        found.append(f"{file_name} is not for the stable ABI")
    if tag[4].startswith("linux"):
        found.append(f"{file_name} is for this machine only; auditwheel repair gives it a manylinux tag")
    if not any(re.fullmatch(r"clausewise/_core\..*(so|pyd)", name) for name in names):
        found.append("the compiled core is missing")
    unexpected = [name for name in names if not _matches(name, ALLOWED) or _matches(name, FORBIDDEN)]
    found += [f"{name} does not belong into the wheel" for name in unexpected]
    return found + _missing(REQUIRED, names)


def sdist_problems(file_name: str, names: Iterable[str]) -> list[str]:
    """Return what is wrong with the name of a source distribution and the names of the files in it."""
    folder = f"clausewise-{VERSION}"
    if file_name != f"{folder}.tar.gz":
        return [f"{file_name} is not the source distribution of clausewise {VERSION}"]
    names = [name.removeprefix(f"{folder}/") for name in names]
    unexpected = [name for name in names if _matches(name, FORBIDDEN_SOURCES)]
    found = [f"{name} does not belong into the source distribution" for name in unexpected]
    return found + _missing(REQUIRED_SOURCES, names)


def problems(dist: Path) -> list[str]:
    """Return what is wrong with the distributions in a folder: one source distribution and its wheels."""
    wheels, sdists = sorted(dist.glob("*.whl")), sorted(dist.glob("*.tar.gz"))
    if not wheels or len(sdists) != 1:
        return [f"{dist} has {len(wheels)} wheels and {len(sdists)} sdists; expected wheels and 1 sdist"]
    with tarfile.open(sdists[0]) as sdist:
        found = sdist_problems(sdists[0].name, [entry.name for entry in sdist if entry.isfile()])
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            files = [entry.filename for entry in wheel.infolist() if not entry.is_dir()]
        found += wheel_problems(path.name, files)
    return found


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _missing(required: Iterable[str], names: list[str]) -> list[str]:
    absent = [pattern for pattern in required if not any(fnmatch(name, pattern) for name in names)]
    return [f"{pattern} is missing" for pattern in absent]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/check_dist.py FOLDER")
    found = problems(Path(sys.argv[1]))
    if found:
        sys.exit("\n".join(found))
