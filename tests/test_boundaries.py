"""The folders of the package import only downwards, only public names, and never in a circle."""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "clausewise"

# From the bottom up; folders on the same level do not import each other.
LEVELS = (
    ("base",),
    ("data",),
    ("partitions",),
    ("rules", "networks", "features"),
    ("analysis", "induction"),
    ("compact", "verify"),
    ("extractors",),
    ("io", "export"),
    ("report", "plots"),
    ("cli",),
)
LEVEL_OF = {folder: level for level, folders in enumerate(LEVELS) for folder in folders}

# Modules whose methods hand a call to a higher folder, imported when the method is called. These methods are
# what users call; nothing else may look upwards.
DELEGATES = {
    "rules/regression.py",
    "rules/ruleset.py",
    "compact/frontier_curve.py",
    "compact/synthetic_rows.py",
    "induction/c50_exports.py",
}
# Exceptions: folders on one level that may import each other, with the reason.
SIDEWAYS = {("export", "io"): "exports are written atomically"}


class Import(NamedTuple):
    """One import inside the package: importer, imported module, and whether it happens at load time."""

    importer: str
    module: str
    name: str
    is_at_load: bool

    @property
    def folders(self) -> tuple[str, str]:
        return folder_of(self.importer), folder_of(self.module.replace(".", "/"))


def folder_of(path: str) -> str:
    return path.split("/")[0] if "/" in path or path in LEVEL_OF else ""


class Finder(ast.NodeVisitor):
    def __init__(self, importer: str) -> None:
        self.importer, self.found, self.depth = importer, [], 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            self.depth += 1
            self.generic_visit(node)
            self.depth -= 1
        else:
            self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, f"{self.importer} has a relative import; write the full name"
        parts = (node.module or "").split(".")
        if parts[0] == "clausewise":
            module = ".".join(parts[1:])
            self.found += [Import(self.importer, module, alias.name, self.depth == 0) for alias in node.names]

    def visit_Import(self, node: ast.Import) -> None:
        names = [alias.name for alias in node.names if alias.name.split(".")[0] == "clausewise"]
        self.found += [
            Import(self.importer, name.removeprefix("clausewise."), "", self.depth == 0) for name in names
        ]


@cache
def imports() -> tuple[Import, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        finder = Finder(path.relative_to(PACKAGE).as_posix())
        finder.visit(ast.parse(path.read_text(encoding="utf-8")))
        found += finder.found
    return tuple(found)


def test_every_folder_has_a_level():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert folders == set(LEVEL_OF)


def test_folders_import_only_downwards():
    wrong = []
    for one in imports():
        mine, theirs = one.folders
        if not mine or not theirs or mine == theirs:
            continue
        is_delegate = one.importer in DELEGATES and not one.is_at_load
        if LEVEL_OF[theirs] >= LEVEL_OF[mine] and not is_delegate:
            wrong.append(f"{one.importer} imports {one.module}.{one.name}")
    assert not wrong


def test_delegates_are_still_needed():
    upwards = {
        one.importer
        for one in imports()
        if all(one.folders) and LEVEL_OF[one.folders[1]] > LEVEL_OF[one.folders[0]]
    }
    assert upwards == DELEGATES


def test_no_folder_imports_the_top_of_the_package():
    top = [one for one in imports() if one.module == "" and one.folders[0] and one.name != "_core"]
    exempt = {"cli/demo.py", "cli/installation.py"}  # use the package as a user would
    assert {one.importer for one in top} <= exempt


def test_no_private_name_crosses_a_folder():
    wrong = [
        f"{one.importer} imports {one.module}.{one.name}"
        for one in imports()
        if one.folders[0] != one.folders[1]
        and any(part.startswith("_") for part in (*one.module.split("."), one.name))
        and one.name not in ("_core", "_version")
        and one.module != "_core"
    ]
    assert not wrong


def test_modules_do_not_import_each_other_in_a_circle():
    modules = {
        path.relative_to(PACKAGE).as_posix().removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in PACKAGE.rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for one in imports():
        if one.is_at_load:
            importer = one.importer.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            inside = f"{one.module}.{one.name}" if one.module else one.name
            graph.setdefault(importer, set()).add(inside if inside in modules else one.module)
    state: dict[str, str] = {}

    def visit(module: str, path: tuple[str, ...]) -> None:
        if state.get(module) == "done":
            return
        assert state.get(module) != "open", f"import cycle: {' → '.join((*path, module))}"
        state[module] = "open"
        # A package's own __init__ imports its modules, which name the package only in their paths.
        for other in sorted(graph.get(module, ())):
            if not module.startswith(f"{other}."):
                visit(other, (*path, module))
        state[module] = "done"

    for module in sorted(graph):
        visit(module, ())


@pytest.mark.parametrize("folder", sorted(LEVEL_OF))
def test_every_folder_says_what_it_is(folder):
    assert ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text(encoding="utf-8")))
