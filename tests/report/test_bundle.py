"""The built page that the package ships: small, and equal to what its source gives."""

import gzip
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
