#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# test.sh [all]: the unit tests of the layers (where GoogleTest is), then everything that pytest
# drives, against the tool as it is installed in .venv. With `all` the proofs marked slow run too.
# test.sh programs: only the real programs, where `test.sh` leaves them out (tests/acceptance/programs/conftest.py).
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)

if [ "${1:-}" = programs ]; then
    # Twice as many at a time: they wait for each other more than they compute. The longest of all are
    # for `all` alone.
    exec .venv/bin/python -m pytest -n "$((2 * jobs))" --dist worksteal -q -m slow -k 'not longer' tests/acceptance/programs
fi

cmake=.venv/bin/cmake
[ -x $cmake ] || cmake=cmake

if [ -n "$(find /usr/include /usr/local/include -maxdepth 2 -path '*gtest/gtest.h' 2>/dev/null)" ]; then
    echo "test: unit tests of the layers"
    # Without optimisation: that would take more time than it saves. The installed libraries have it.
    PATH="$PWD/.venv/bin:$PATH" $cmake -S . -B build/test -G Ninja -DHEAPWRIGHT_TESTS=ON \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPython3_EXECUTABLE="$PWD/.venv/bin/python" >build/cmake-test.log ||
        { cat build/cmake-test.log; exit 1; }
    $cmake --build build/test --target heapwright-tests -- -j "$jobs" --quiet
    "$(dirname "$(command -v $cmake)")/ctest" --test-dir build/test --output-on-failure -j "$jobs" --progress
else
    echo "test: SKIPPED the unit tests of the layers: no GoogleTest (package libgtest-dev)"
fi

marks=(-m 'not slow and not compiles')
[ "${1:-}" = all ] && marks=()
# One more at a time than there are processors, for some only wait; the slowest are named at the end.
.venv/bin/python -m pytest -n "$((jobs + 1))" --dist worksteal --durations=10 -q "${marks[@]}"
