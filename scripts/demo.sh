#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# The main job on real input: which allocator should the C++ compiler run on, when it compiles one of
# this project's own files? Builds the tool, asks the distribution for the peers if it may, compares
# every allocator there is, and leaves the raw results in .demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

source_file=native/runner/run/accounts.cpp
compile=(g++ -std=c++20 -O2 -Iinclude -Inative -c "$source_file" -o /dev/null)

if ! make --no-print-directory .venv/installed PYTHON="${PYTHON:-python3}"; then
    echo
    echo "demo: no environment for the tool (the reason is above); building the allocators alone."
    exec scripts/allocators-alone.sh "${compile[@]}"
fi
scripts/packages.sh peers
mkdir -p .demo
echo
echo "\$ heapwright compare --until 3% --budget 3 --json .demo/compare.json -- ${compile[*]}"
.venv/bin/heapwright compare --until 3% --budget 3 --json .demo/compare.json -- "${compile[@]}"
