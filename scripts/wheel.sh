#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# wheel.sh [DIR]: builds the source distribution of the last commit, and from that the wheel, into DIR
# (build/release). The wheel has the lowest platform tag that auditwheel grants. PYTHON names an
# interpreter with the extra `release`. Equal commits and tools give equal bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build/release}")
python=$(realpath -s "${PYTHON:-.venv/bin/python}")
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH PIP_CONSTRAINT="$PWD/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1
if ! "$python" -c 'import auditwheel, build' 2>/dev/null; then
    echo "wheel: $python lacks auditwheel or build; make .venv/installed-release installs them" >&2
    exit 3
fi
if ! git diff --quiet HEAD; then
    echo "wheel: uncommitted changes are left out; the commit is $commit" >&2
fi

work=$PWD/build/wheel-of-commit
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/tree" "$work/made"
rm -f "$out"/heapwright-*.tar.gz "$out"/heapwright-*.whl

# An export of the commit, so that no other file gets in.
git archive "$commit" | tar -x -C "$work/tree"
log=build/wheel.log
mkdir -p build
echo "wheel: building the source distribution (log: $log)"
(umask 022 && "$python" -m build --sdist --outdir "$out" "$work/tree") >"$log" 2>&1 ||
    { tail -n 25 "$log" >&2 && exit 4; }
sdist=("$out"/heapwright-*.tar.gz)
tar -x -C "$work" -f "${sdist[0]}"
source=$(realpath "$work"/heapwright-*)

# Parts that link with a library of this machine, such as APR, are left out. The file names of
# assertions do not depend on the folder of the build.
export SKBUILD_CMAKE_DEFINE="HEAPWRIGHT_APR_LIBRARY=OFF;CMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON"
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$source=." CXXFLAGS="${CXXFLAGS:-} -ffile-prefix-map=$source=."
echo "wheel: building the wheel from it, which takes minutes"
(umask 022 && "$python" -m build --wheel --outdir "$work/made" "$source") >>"$log" 2>&1 ||
    { tail -n 25 "$log" >&2 && exit 4; }
PATH="$(dirname "$python"):$PATH" "$python" -m auditwheel repair --plat auto --only-plat \
    --wheel-dir "$out" "$work"/made/*.whl >>"$log" 2>&1 || { tail -n 25 "$log" >&2 && exit 4; }
ls -l "$out"/heapwright-*.tar.gz "$out"/heapwright-*.whl
