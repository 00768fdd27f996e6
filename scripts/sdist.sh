#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# sdist.sh [DIR]: builds the source distribution of the last commit into DIR (build/release) and prints
# its path. PYTHON names an interpreter with the extra `release`.
set -euo pipefail
# shellcheck source=scripts/release_parts.sh
. "$(dirname "$0")/release_parts.sh"
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
mkdir -p "$out"
rm -f "$out"/heapwright-*.tar.gz
echo "release: building the source distribution" >&2
logged sdist "$python" -m build --sdist --outdir "$out" "$tree"
echo "$out"/heapwright-*.tar.gz
