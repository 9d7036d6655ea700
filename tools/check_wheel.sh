#!/usr/bin/env bash
# Build the wheel, install it into an empty environment and test it outside the source tree.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf dist
.venv/bin/python -m build --wheel --outdir dist .
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3=${PYTHON:-.venv/bin/python}
"$python3" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q dist/*.whl
cp tests/smoke.py "$folder/"
wheel=$(ls "$PWD"/dist/*.whl)
cd "$folder"
venv/bin/python smoke.py
# Without the extra `cli`, the command names what is missing; with it, it runs.
if venv/bin/clausewise --version 2> error; then echo "the command ran without its extra" >&2; exit 1; fi
grep -q "clausewise\[cli\]" error
venv/bin/python -m pip install -q "$wheel[cli]"
venv/bin/clausewise doctor
