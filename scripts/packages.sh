#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# packages.sh LIST…: installs the missing packages of scripts/packages/LIST.txt. It needs to be root or
# to have sudo without a password, and prints the names first. Otherwise it names the missing packages
# and exits with 0. Each test that needs one of them skips and names it. With HEAPWRIGHT_NO_SKIP set,
# it exits with 1 if a package is still missing.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "packages: not a Debian-like system; these lists name what to install by its own means:"
    for list in "$@"; do echo "  scripts/packages/$list.txt"; done
    exit 0
fi

# missing_packages LIST…: sets `missing` to the packages of these lists that are not installed.
missing_packages() {
    missing=()
    local list package status
    for list in "$@"; do
        while read -r package _; do
            case "$package" in '' | '#'*) continue ;; esac
            status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
            [ "$status" = installed ] || missing+=("$package")
        done <"scripts/packages/$list.txt"
    done
}

# go_on_without REASON PACKAGE…: ends this script while packages are still missing.
go_on_without() {
    local reason=$1
    shift
    if [ -n "${HEAPWRIGHT_NO_SKIP:-}" ]; then
        echo "packages: FAILED: $reason: $*" >&2
        exit 1
    fi
    echo "packages: $reason, going on without: $*"
    echo "          to install them: sudo apt-get install $*"
    exit 0
}

missing_packages "$@"
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
else
    go_on_without "not root, and no sudo without a password" "${missing[@]}"
fi

echo "packages: installing with apt-get: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Another installation, such as an automatic upgrade, may hold dpkg's lock for a while.
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@" >>"$log" 2>&1 </dev/null
}
if apt install -y --no-install-recommends "${missing[@]}"; then exit 0; fi
if apt update && apt install -y --no-install-recommends "${missing[@]}"; then exit 0; fi
# A package that cannot be installed must not prevent the installation of the others.
for package in "${missing[@]}"; do
    apt install -y --no-install-recommends "$package" || true
done
missing_packages "$@"
[ ${#missing[@]} -gt 0 ] || exit 0
echo "packages: the last lines of apt-get:"
tail -n 5 "$log" | sed 's/^/    /'
go_on_without "apt-get could not install these" "${missing[@]}"
