#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# What wheel.sh, sdist.sh, deb.sh and release.sh have in common; they source it. It enters the root of
# the repository. It sets `out` to the folder DIR (build/release), `python` to the interpreter, and the
# time of all files to that of the last commit.

# shellcheck disable=SC2034 # the scripts that source this use its variables
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/release}")
python=$(realpath -s "${PYTHON:-.venv/bin/python}")
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PYTHON="$python" PIP_CONSTRAINT="$PWD/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1

# unpack SDIST NAME: unpacks a source distribution into build/NAME, which is `work`; `source` is the
# folder of the sources there. The end of the script deletes it.
unpack() {
    work=$PWD/build/$2
    rm -rf "$work"
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work"
    tar -x -C "$work" -f "$1"
    source=$(echo "$work"/heapwright-*)
}

# logged NAME COMMAND…: runs a command whose output goes to build/NAME.log. If it fails, prints the end
# and exits with 4.
logged() {
    local log=$PWD/build/$1.log
    mkdir -p build
    shift
    echo "release: log: $log" >&2
    (umask 022 && "$@") >"$log" 2>&1 || {
        tail -n 25 "$log" >&2
        exit 4
    }
}
