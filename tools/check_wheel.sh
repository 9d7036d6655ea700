#!/usr/bin/env bash
# Build the wheel, install it into an empty environment and use it from a folder without the sources.
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
cd "$folder"
venv/bin/python smoke.py
