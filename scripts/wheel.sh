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
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PIP_CONSTRAINT="$PWD/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1
sdist=$(scripts/sdist.sh "$out")

work=$PWD/build/wheel-of-commit
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/made"
tar -x -C "$work" -f "$sdist"
source=$(echo "$work"/heapwright-*)

# Parts that link with a library of this machine, such as APR, are left out. The file names in
# messages do not depend on the folder of the build.
export SKBUILD_CMAKE_DEFINE="HEAPWRIGHT_APR_LIBRARY=OFF;CMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON"
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$source=."
export CXXFLAGS="${CXXFLAGS:-} -ffile-prefix-map=$source=."
log=$PWD/build/wheel.log # auditwheel looks for patchelf on the path
rm -f "$out"/heapwright-*.whl
echo "release: building the wheel, which takes minutes (log: $log)" >&2
{
    umask 022 && "$python" -m build --wheel --outdir "$work/made" "$source" &&
        PATH="$(dirname "$python"):$PATH" "$python" -m auditwheel repair --plat auto --only-plat \
            --wheel-dir "$out" "$work"/made/*.whl
} >"$log" 2>&1 || { tail -n 25 "$log" >&2 && exit 4; }
ls -l "$sdist" "$out"/heapwright-*.whl
