#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# sdist.sh DIR: builds the source distribution of the last commit into DIR and prints its path.
# PYTHON names an interpreter with the extra `release`.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
python=$(realpath -s "${PYTHON:-.venv/bin/python}")
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PIP_CONSTRAINT="$PWD/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1
if ! "$python" -c 'import build' 2>/dev/null; then
    echo "release: $python lacks the package build; make .venv/installed-release installs it" >&2
    exit 3
fi
if ! git diff --quiet HEAD; then
    echo "release: uncommitted changes are left out of $(git log -1 --format='%h %s')" >&2
fi

# An export of the commit, so that no other file gets in.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git archive HEAD | tar -x -C "$tree"
mkdir -p "$out" build
rm -f "$out"/heapwright-*.tar.gz
log=$PWD/build/sdist.log
echo "release: building the source distribution (log: $log)" >&2
(umask 022 && "$python" -m build --sdist --outdir "$out" "$tree") >"$log" 2>&1 ||
    { tail -n 25 "$log" >&2 && exit 4; }
echo "$out"/heapwright-*.tar.gz
