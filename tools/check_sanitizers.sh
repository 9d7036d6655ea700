#!/usr/bin/env bash
# The core's tests under AddressSanitizer and UBSan, in a build and an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/sanitizers
if [ ! -e "$folder/venv/bin/python" ]; then
    .venv/bin/python -m venv --system-site-packages "$folder/venv"
fi
site=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
# The tools and test packages of .venv are visible; clausewise itself comes from the instrumented build.
.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' > "$site/tools.pth"
"$folder/venv/bin/python" -m pip install -q --no-build-isolation --no-deps --force-reinstall \
    -C build-dir="$folder/cmake" -C cmake.define.CLAUSEWISE_SANITIZE=ON .
export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
# CPython itself never frees some memory at exit, so leaks are looked for elsewhere.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
# What runs the core; frameworks of networks bring libraries of their own, which are slow under the sanitizers.
if [ $# = 0 ]; then
    set -- tests/rules tests/compact tests/induction tests/extractors/test_clausewise.py tests/extractors/test_termwise.py
fi
"$folder/venv/bin/python" -m pytest -q -p no:cacheprovider -m "not slow_under_sanitizers and not fuzz" "$@"
