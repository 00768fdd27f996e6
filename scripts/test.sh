#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# test.sh [quick|all|programs|builds]: the tests of one make target, against the tool as it is
# installed in .venv; tests/README.md says which tests each target runs. Prints the wall and processor
# time of each stage at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/stages.sh
. scripts/stages.sh
trap 'stage_table test' EXIT
which=${1:-quick}
jobs=$(nproc)
unset PYTHONDONTWRITEBYTECODE # each process would compile all tests, and so would the next target
cmake=.venv/bin/cmake
[ -x $cmake ] || cmake=cmake

# Pre: make installs the tool before it calls this script. A call by hand may find an older one.
# `-o` leaves out a file that make writes anew in each call.
is_stale=0
MAKEFLAGS='' make -q -o build/optional .venv/installed-dev >/dev/null 2>&1 || is_stale=$?
if [ $is_stale -eq 1 ]; then
    echo "test: WARNING: sources are newer than the tool in .venv, so the tests use old programs and libraries." >&2
    echo "test:          This installs it again: make .venv/installed-dev" >&2
fi

# build_units PAIRS: builds the unit tests. PAIRS (ON or OFF) adds the tests of all pairs of layers.
build_units() {
    # Without optimisation, which costs more time than it saves. The libraries are those of the
    # installed tool (docs/decisions/unit-tests.md).
    local built=$PWD/build/wheel
    [ -d "$built/native" ] || built=''
    PATH="$PWD/.venv/bin:$PATH" $cmake -S . -B build/test -G Ninja -DHEAPWRIGHT_TESTS=ON -DHEAPWRIGHT_PAIR_TESTS="$1" \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPython3_EXECUTABLE="$PWD/.venv/bin/python" \
        -DHEAPWRIGHT_TESTED_BUILD="$built" \
        >build/cmake-test.log || { cat build/cmake-test.log && return 1; }
    $cmake --build build/test --target heapwright-tests -- -j "$jobs" --quiet
}

run_units() {
    "$(dirname "$(command -v $cmake)")/ctest" --test-dir build/test --output-on-failure -j "$jobs" --progress
}

# units PAIRS: build the unit tests and run them.
units() {
    if [ -n "$(find /usr/include /usr/local/include -maxdepth 2 -path '*gtest/gtest.h' 2>/dev/null)" ]; then
        echo "test: unit tests of the layers"
        stage units-build build_units "$1"
        stage units run_units
    elif [ -n "${HEAPWRIGHT_NO_SKIP:-}" ]; then
        echo "test: FAILED: no GoogleTest for the unit tests of the layers (package libgtest-dev)" >&2
        exit 1
    else
        echo "test: SKIPPED the unit tests of the layers: no GoogleTest (package libgtest-dev)"
    fi
}

# marked MARKERS: the files of tests that name one of these markers, and the folders whose conftest.py
# does. To collect all files takes each process many seconds. tests/conftest.py checks that no test
# has its marker from elsewhere.
marked() {
    grep -rlE "mark\.($1)\b" --include='test_*.py' --include=conftest.py tests |
        grep -vx tests/conftest.py | sed 's|/conftest\.py$||' | sort
}

# tests PROCESSES OPTION…: runs pytest and lists the slowest tests at the end.
tests() {
    local processes=$1
    shift
    stage pytest .venv/bin/python -m pytest -n "$processes" --dist worksteal --durations=10 -q "$@"
}

# Some tests only wait, so pytest gets one process more than there are processors. Tests with servers
# wait more often and get twice as many.
case $which in
quick)
    units OFF
    tests $((jobs + 1)) -m 'not slow and not compiles and not programs'
    ;;
all)
    units ON
    tests $((jobs + 1))
    ;;
programs)
    readarray -t files < <(marked 'programs|each_allocator')
    tests $((2 * jobs)) -m 'programs and not slow and not compiles' "${files[@]}"
    ;;
builds)
    readarray -t files < <(marked compiles)
    tests "$jobs" -m 'compiles and not slow' "${files[@]}"
    ;;
*)
    echo "usage: scripts/test.sh [quick|all|programs|builds]" >&2
    exit 2
    ;;
esac
