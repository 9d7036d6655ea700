#!/usr/bin/env bash
# Run tests on a core that is built with sanitizers, in a build and environment of its own:
#   tools/check_sanitizers.sh memory [options of pytest]     AddressSanitizer and UBSan
#   tools/check_sanitizers.sh threads [options of pytest]    ThreadSanitizer
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-}
wrapper=(env)
case $kind in
memory)
    option=CLAUSEWISE_SANITIZE
    preload="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
    # CPython does not free all memory at exit, so leak detection is off.
    settings=(ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1)
    # Tests that run the core. Deep-learning frameworks load large libraries, which are slow under the sanitizers.
    tests=(tests/rules tests/compact tests/induction tests/analysis/test_counterfactual_kernel.py
        tests/extractors/test_clause_substitution.py tests/extractors/test_term_substitution.py)
    ;;
threads)
    option=CLAUSEWISE_SANITIZE_THREADS
    preload=$(g++ -print-file-name=libtsan.so)
    # pytest captures what a process prints, so reports go to files. Where a test names no number of threads, the
    # core uses four; NumPy uses one, since its libraries are not instrumented and look as if they had races.
    settings=(TSAN_OPTIONS="log_path='$PWD/build/sanitizers/threads/race'" CLAUSEWISE_NUM_THREADS=4
        OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1)
    # It cannot work with all addresses that kernels choose at random.
    ! setarch "$(uname -m)" -R true || wrapper=(setarch "$(uname -m)" -R env)
    # Tests in which the core uses threads; not those that import polars, which crashes.
    tests=(tests/test_concurrency.py tests/rules/test_evaluator.py tests/compact/test_kernels.py
        tests/compact/test_compact.py tests/compact/test_nearby_rows.py tests/induction/test_matrix.py
        tests/induction/test_protocol.py
        tests/induction/test_threads.py tests/induction/test_cart_core.py tests/induction/test_long_work.py
        tests/analysis/test_counterfactual_kernel.py tests/extractors/test_clause_substitution.py)
    ;;
*)
    echo "usage: $0 memory|threads [options of pytest]" >&2
    exit 2
    ;;
esac
shift
[ $# = 0 ] || tests=("$@")
folder=build/sanitizers/$kind
if [ ! -e "$folder/venv/bin/python" ]; then
    .venv/bin/python -m venv --system-site-packages "$folder/venv"
fi
site=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
# Tools and test packages come from .venv, clausewise itself from the instrumented build.
.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' > "$site/tools.pth"
# Symbols are kept, so that reports name lines of the source.
"$folder/venv/bin/python" -m pip install -q --no-build-isolation --no-deps --force-reinstall \
    -C build-dir="$folder/cmake" -C cmake.build-type=RelWithDebInfo -C install.strip=false \
    -C "cmake.define.$option=ON" .
rm -f "$folder"/race.*
status=0
"${wrapper[@]}" LD_PRELOAD="$preload" "${settings[@]}" "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider \
    -m "not slow_under_sanitizers and not fuzz" "${tests[@]}" || status=$?
for report in "$folder"/race.*; do
    [ ! -e "$report" ] || cat "$report"
done
exit $status
