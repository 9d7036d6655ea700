#!/usr/bin/env bash
# Run the core's tests under AddressSanitizer and UBSan, in a separate build and environment.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/sanitizers
if [ ! -e "$folder/venv/bin/python" ]; then
    .venv/bin/python -m venv --system-site-packages "$folder/venv"
fi
site=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
# Tools and test packages come from .venv, clausewise itself from the instrumented build.
.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' > "$site/tools.pth"
"$folder/venv/bin/python" -m pip install -q --no-build-isolation --no-deps --force-reinstall \
    -C build-dir="$folder/cmake" -C cmake.define.CLAUSEWISE_SANITIZE=ON .
export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
# CPython does not free all memory at exit, so leak detection is off.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
# Tests that run the core. Deep-learning frameworks load large libraries, which are slow under the sanitizers.
if [ $# = 0 ]; then
    set -- tests/rules tests/compact tests/induction tests/extractors/test_clausewise.py tests/extractors/test_termwise.py
fi
"$folder/venv/bin/python" -m pytest -q -p no:cacheprovider -m "not slow_under_sanitizers and not fuzz" "$@"
