#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# wheel.sh [DIR [MACHINE]]: builds the source distribution of the last commit, and from that the wheel,
# into DIR (build/release). MACHINE is x86_64 or aarch64; another one than this needs Debian's cross
# compiler. The wheel has the tag manylinux_2_28, which auditwheel checks. PYTHON names an interpreter
# with the extra `release`. SKBUILD_CMAKE_DEFINE="HEAPWRIGHT_TOOL=OFF;HEAPWRIGHT_INSTALL=ON" has the
# libraries alone, in a minute. Equal commits and tools give equal bytes.
set -euo pipefail
# shellcheck source=scripts/release_parts.sh
. "$(dirname "$0")/release_parts.sh"
machine=${2:-$(uname -m)}
sdist=$(scripts/sdist.sh "$out")
unpack "$sdist" "wheel-of-commit-$machine"

target=()
if [ "$machine" != "$(uname -m)" ]; then
    target=("CMAKE_SYSTEM_NAME=Linux" "CMAKE_SYSTEM_PROCESSOR=$machine")
    export _PYTHON_HOST_PLATFORM=linux-$machine CC=$machine-linux-gnu-gcc CXX=$machine-linux-gnu-g++
    if ! command -v "$CXX" >/dev/null; then
        echo "release: there is no $CXX; scripts/packages/release.txt lists the packages" >&2
        exit 3
    fi
fi

# Parts that link with a library of this machine, such as APR, are left out. The file names in
# messages do not depend on the folder of the build.
old_glibc=$work/old-glibc
defined=(${SKBUILD_CMAKE_DEFINE:+"$SKBUILD_CMAKE_DEFINE"} "HEAPWRIGHT_APR_LIBRARY=OFF" "CMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON" "${target[@]}"
    "CMAKE_PROJECT_heapwright_INCLUDE=$PWD/packaging/wheel/old_glibc.cmake" "HEAPWRIGHT_OLD_GLIBC=$old_glibc")
SKBUILD_CMAKE_DEFINE=$(IFS=';' && echo "${defined[*]}")
export SKBUILD_CMAKE_DEFINE
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$source=."
export CXXFLAGS="${CXXFLAGS:-} -ffile-prefix-map=$source=."

# auditwheel offers the tags of this machine alone, and looks for patchelf on the path.
audit='import platform, sys
machine = sys.argv.pop(1)
platform.machine = lambda: machine
from auditwheel.main import main
sys.exit(main())'
build() {
    "$python" packaging/wheel/old_glibc.py "${CXX:-g++}" "$old_glibc" &&
        "$python" -m build --wheel --outdir "$work/made" "$source" &&
        PATH="$(dirname "$python"):$PATH" "$python" -c "$audit" "$machine" repair \
            --plat "manylinux_2_28_$machine" --only-plat --wheel-dir "$out" "$work"/made/*.whl
}
rm -f "$out"/heapwright-*_"$machine".whl
echo "release: building the wheel for $machine, which takes minutes" >&2
logged "wheel-$machine" build
ls -l "$sdist" "$out"/heapwright-*_"$machine".whl
