#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# coverage.sh [cpp|python]…: which lines the unit tests reach, in both languages or in one. The C++
# part is a build of its own. Prints the totals; the pages are in build/coverage/.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/stages.sh
. scripts/stages.sh
trap 'stage_table coverage' EXIT
jobs=$(nproc)
folder=build/coverage
mkdir -p "$folder"
PATH=$PWD/.venv/bin:$PATH

cpp_tests() {
    cmake -S . -B "$folder/cpp" -G Ninja -DHEAPWRIGHT_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CXX_FLAGS_DEBUG='-O0 --coverage -fprofile-update=atomic' \
        -DCMAKE_C_FLAGS_DEBUG='-O0 --coverage -fprofile-update=atomic' \
        -DPython3_EXECUTABLE="$PWD/.venv/bin/python" >"$folder/cmake.log" || return
    cmake --build "$folder/cpp" --target heapwright-tests -- -j "$jobs" --quiet || return
    find "$folder/cpp" -name '*.gcda' -delete
    ctest --test-dir "$folder/cpp" --output-on-failure -j "$jobs" --progress
}

cpp_report() {
    gcovr -j "$jobs" --root . --object-directory "$folder/cpp" --filter include/ --filter native/ \
        --exclude-throw-branches --gcov-ignore-parse-errors=negative_hits.warn \
        --html-nested "$folder/cpp.html" --json-summary "$folder/cpp.json" --print-summary
}

# The tests start the command line in processes of its own, which are measured as well.
python_tests() {
    coverage erase
    coverage run -m pytest -n "$((jobs + 1))" --dist worksteal -q \
        -m 'not slow and not compiles and not programs' tests/lab
}

python_report() {
    coverage combine -q || return
    coverage html -q -d "$folder/python" || return
    coverage report --skip-covered --skip-empty --sort=cover | tail -n 20
}

[ $# -gt 0 ] || set -- cpp python
for language in "$@"; do
    case $language in
    cpp | python) ;;
    *)
        echo "usage: scripts/coverage.sh [cpp|python]…" >&2
        exit 2
        ;;
    esac
    stage "$language-tests" "${language}_tests"
    stage "$language-report" "${language}_report"
done
