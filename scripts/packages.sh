#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# packages.sh LIST…: see that the distribution's packages named in scripts/packages/LIST.txt are
# there. Installs what is missing if it may (as root, or through sudo that asks for no password) and
# says so first; otherwise names what is missing and goes on, for nothing depends on them entirely:
# what needs one of them says so itself.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "packages: not a Debian-like system; these lists name what to install by its own means:"
    for list in "$@"; do echo "  scripts/packages/$list.txt"; done
    exit 0
fi

missing=()
for list in "$@"; do
    while read -r package _; do
        case "$package" in '' | '#'*) continue ;; esac
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || missing+=("$package")
    done <"scripts/packages/$list.txt"
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
else
    echo "packages: not root, and no sudo without a password: going on without ${missing[*]}"
    echo "          to have them: sudo apt-get install ${missing[*]}"
    exit 0
fi

echo "packages: installing with apt-get: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get -q "$@" >>"$log" 2>&1 </dev/null; }
if apt install -y --no-install-recommends "${missing[@]}"; then exit 0; fi
if apt update && apt install -y --no-install-recommends "${missing[@]}"; then exit 0; fi
# One that cannot be had must not take the others with it.
left=()
for package in "${missing[@]}"; do
    apt install -y --no-install-recommends "$package" || left+=("$package")
done
[ ${#left[@]} -gt 0 ] || exit 0
echo "packages: could not install ${left[*]}; going on without. The last lines of apt-get:"
tail -n 5 "$log" | sed 's/^/    /'
