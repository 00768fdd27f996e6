#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# release.sh [DIR]: builds into DIR (build/release) what a maintainer uploads for the last commit. These
# are the source distribution, the wheels, and Debian's packages where their tools are installed. A list
# of materials in SPDX, a section of the change log and SHA256SUMS complete them. It uploads nothing.
# Equal commits and tools give equal bytes. PYTHON names an interpreter with the extra `release`.
set -euo pipefail
# shellcheck source=scripts/release_parts.sh
. "$(dirname "$0")/release_parts.sh"

rm -rf "$out"
scripts/wheel.sh "$out" x86_64
if command -v aarch64-linux-gnu-g++ >/dev/null; then
    scripts/wheel.sh "$out" aarch64
else
    echo "release: no wheel for aarch64: there is no compiler for it (package g++-aarch64-linux-gnu)"
fi
wheels=("$out"/heapwright-*.whl)
version=$(basename "${wheels[0]}" | cut -d- -f2)
"$python" scripts/sbom.py "$out/heapwright-$version.spdx.json" "${wheels[@]}"
if command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null; then
    scripts/deb.sh "$out"
else
    echo "release: no packages for Debian: dpkg-buildpackage or dh is not installed (package debhelper)"
fi

# The first section that is not empty: the release, or the changes since the last one.
awk '/^## / { if (lines) exit; section = "" } { section = section $0 "\n" } /^- / { lines = 1 }
    END { printf "%s", section }' CHANGELOG.md >"$out/CHANGES-$version.md"
(cd "$out" && LC_ALL=C sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
echo "release: $out"
