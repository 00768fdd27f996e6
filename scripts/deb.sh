#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# deb.sh [DIR]: builds Debian's binary packages of the last commit into DIR (build/release). It uses the
# source distribution and packaging/debian. lintian checks the packages where it is installed. PYTHON
# names an interpreter with the tool's libraries and the extra `release`; it writes the manual pages.
# DEB_BUILD_PROFILES=pkg.heapwright.notool builds the libraries and headers alone, in a minute.
set -euo pipefail
# shellcheck source=scripts/release_parts.sh
. "$(dirname "$0")/release_parts.sh"
for program in dpkg-buildpackage dh cmake; do
    if ! command -v "$program" >/dev/null; then
        echo "release: there is no $program; scripts/packages/release.txt lists the packages" >&2
        exit 3
    fi
done
sdist=$(scripts/sdist.sh "$out")

unpack "$sdist" deb-of-commit
version=${source##*-}
cp -r packaging/debian "$source/debian"
# A package of Debian itself has a higher revision.
cat >"$source/debian/changelog" <<EOF
heapwright ($version-0heapwright1) unstable; urgency=medium

  * Packages of commit $(git rev-parse --short=12 HEAD). CHANGELOG.md has the changes.

 -- The Heapwright authors <maintainers@heapwright.example>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
EOF
# Debian 12 has no Typer that is new enough to write these in the build.
export PYTHONPATH="$source/src" PYTHONDONTWRITEBYTECODE=1
"$python" -m heapwright.cli.manual "$source/debian/made"
for shell in bash zsh fish; do
    "$python" -m heapwright --completion "$shell" >"$source/debian/made/heapwright.$shell"
done
unset PYTHONPATH

rm -f "$out"/*.deb
echo "release: building packages for Debian, which takes minutes" >&2
build() {
    cd "$source" &&
        DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage --build=binary -us -uc
}
logged deb build
if command -v lintian >/dev/null; then
    lintian --fail-on error,warning "$work"/*.changes
else
    echo "release: not checked: there is no lintian (package lintian)" >&2
fi
mv "$work"/*.deb "$out"
ls -l "$out"/*.deb
