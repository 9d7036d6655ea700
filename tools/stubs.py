"""Generate the type stub of the compiled core, or check that the committed one is up to date."""

import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parents[1] / "src" / "clausewise" / "_core.pyi"


def generated_stub() -> str:
    """Return the stub that nanobind derives from the built module, formatted like the rest of the project."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "_core.pyi"
        stubgen = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "clausewise._core", "-o", str(path)]
        subprocess.run(stubgen, check=True)
        ruff = [sys.executable, "-m", "ruff"]
        config = ["--config", str(STUB.parents[2] / "pyproject.toml")]
        fix = [*ruff, "check", "-q", "--fix", *config, str(path)]
        subprocess.run(fix, check=False, stdout=subprocess.DEVNULL)
        subprocess.run([*ruff, "format", "-q", *config, str(path)], check=True)
        return path.read_text(encoding="utf-8")


def main() -> None:
    """Write the stub with --write; otherwise exit with a message if the committed one is out of date."""
    current = generated_stub()
    if "--write" in sys.argv[1:]:
        STUB.write_text(current, encoding="utf-8")
    elif not STUB.exists() or STUB.read_text(encoding="utf-8") != current:
        sys.exit(f"{STUB.name} does not match the built core; run `make stubs` and commit the result.")


if __name__ == "__main__":
    main()
