"""The built page that the package ships: small, and equal to what its source gives."""

import gzip
import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

EXPLORER = Path(__file__).parents[2] / "explorer"
ASSETS = files("clausewise.report").joinpath("assets")
NAMES = ("explorer.js", "explorer.css")
OLDEST_NODE = (20, 19)


def test_the_bundle_is_at_most_150_kilobytes_compressed():
    together = b"".join(ASSETS.joinpath(name).read_bytes() for name in NAMES)
    assert len(gzip.compress(together, 9, mtime=0)) <= 150 * 1024


def test_the_bundle_can_stand_inside_html():
    script, style = (ASSETS.joinpath(name).read_text(encoding="utf-8") for name in NAMES)
    assert not re.search(r"</script|<!--|<script", script, re.IGNORECASE)
    assert not re.search(r"</style|<!--", style, re.IGNORECASE)


def test_the_bundle_names_no_address_to_load_from():
    script, style = (ASSETS.joinpath(name).read_text(encoding="utf-8") for name in NAMES)
    # The only addresses are names: of the SVG, MathML and XHTML vocabularies.
    assert set(re.findall(r"https?://[\w./]+", script)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xhtml",
        "http://www.w3.org/1998/Math/MathML",
    }
    assert "url(" not in style
    assert "@import" not in style


@pytest.fixture(scope="module")
def installed():
    """The source, with its tools installed from the lock file."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip(
            "Node, which builds the page, is not installed; apt-get install nodejs npm to check the bundle."
        )
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST_NODE:
        pytest.skip(f"Node is {version.strip()}; building the page needs 20.19 or newer.")
    lock, done = EXPLORER / "package-lock.json", EXPLORER / "node_modules" / ".package-lock.json"
    if not done.exists() or done.stat().st_mtime < lock.stat().st_mtime:
        subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=EXPLORER, check=True, timeout=600)
    return EXPLORER / "node_modules" / ".bin"


def test_the_types_of_the_payload_are_what_its_schema_gives(installed, tmp_path):
    written = tmp_path / "payload.generated.ts"
    subprocess.run(["node", "scripts/payloadTypes.mjs", written], cwd=EXPLORER, check=True, timeout=120)
    committed = EXPLORER / "src" / "payload.generated.ts"
    assert written.read_bytes() == committed.read_bytes(), "The types are out of date; run `make explorer`."


def test_the_source_has_no_type_errors(installed):
    done = subprocess.run(
        [installed / "tsc", "--noEmit"], cwd=EXPLORER, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def linted(*arguments):
    command = ["node", "scripts/objectMaps.mjs", *arguments]
    return subprocess.run(command, cwd=EXPLORER, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.usefixtures("installed")
def test_the_source_uses_no_plain_object_as_a_map():
    done = linted()
    assert done.returncode == 0, done.stdout + done.stderr


MAPS_OF_OBJECTS = {
    "const lengths: Record<string, number> = {};": "a Record of all keys",
    "const lengths: Readonly<Record<string | number, number>> = {};": "a Record of all keys",
    "type Names = string; type Lengths = Partial<Record<Names, number>>;": "a Record of all keys",
    "type Lengths = Record<`length of ${string}`, number>;": "a Record of all keys",
    "interface Lengths { [name: string]: number }": "an index signature",
    "type Lengths = { [name in string]: number };": "a mapped type over all keys",
    "const at = (name: string) => ({ a: 1, b: 2 })[name];": "is read by a key",
    'const at = (name: string) => ({ a: 1 })[name as "a"];': "is read by a key",
    "const at = <T extends string>(name: T) => ({ a: 1 } as { [K in T]: number })[name];": "is read by a key",
    "const made = (name: string) => ({ [name]: 1 });": "a property is named by a key",
    "const has = (name: string) => name in { a: 1 };": "is looked up in an object",
    "const made = (pairs: [string, number][]) => Object.fromEntries(pairs);": "Object.fromEntries",
    "const set = (name: string) => Reflect.set({}, name, 1);": "Reflect.set",
    "for (const name in { a: 1 }) console.log(name);": "for … in",
}
NO_MAPS = """
type End = "low" | "high";
const term: Record<End, number> = { low: 1, high: 2 };
export const at = (end: End) => term[end];
export const widened = <T extends End>(end: T) => ({ ...term, [end]: 3 });
export const letter = (text: string, rows: Float64Array, i: number) => [text[i], rows[i], [1, 2][i]];
export const hasLow = (given: object) => "low" in given;
export const read = (given: object) => new Map<string, unknown>(Object.entries(given));
"""


@pytest.mark.usefixtures("installed")
def test_the_lint_rule_finds_every_way_to_use_an_object_as_a_map(tmp_path):
    for number, code in enumerate(MAPS_OF_OBJECTS):
        (tmp_path / f"bad{number}.ts").write_text(f"{code}\nexport {{}};\n", encoding="utf-8")
    (tmp_path / "good.ts").write_text(NO_MAPS, encoding="utf-8")
    options = {"target": "ES2022", "lib": ["ES2022", "DOM"], "module": "ESNext", "strict": True, "types": []}
    config = tmp_path / "tsconfig.json"
    config.write_text(json.dumps({"compilerOptions": options, "include": ["*.ts"]}), encoding="utf-8")
    done = linted(config)
    assert done.returncode == 1, done.stderr
    found = done.stdout.splitlines()
    assert not [line for line in found if "good.ts" in line]
    for number, (code, problem) in enumerate(MAPS_OF_OBJECTS.items()):
        own = [line for line in found if f"bad{number}.ts:1:" in line]
        assert any(problem in line for line in own), (code, own)


def test_the_bundle_is_what_its_source_gives(installed, tmp_path):
    command = [installed / "vite", "build", "--outDir", tmp_path, "--logLevel", "error"]
    subprocess.run(command, cwd=EXPLORER, check=True, timeout=300)
    for name in NAMES:
        built = (tmp_path / name).read_bytes()
        assert built == ASSETS.joinpath(name).read_bytes(), f"{name} is out of date; run `make explorer`."


def test_the_source_says_any_nowhere():
    found = [
        f"{path.relative_to(EXPLORER)}: {line.strip()}"
        for path in (EXPLORER / "src").rglob("*.ts*")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"(:|as|<|\|)\s*any\b", line.split("//")[0]) and not line.lstrip().startswith("*")
    ]
    assert found == []
