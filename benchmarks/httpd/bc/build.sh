#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# build.sh FOLDER fetches the distribution's source of GNU bc, applies the patch of patches/bc-1.07,
# and builds FOLDER/mod_bc.so for the distribution's httpd. All other files are in FOLDER/bc-build. A
# source that is already there is used again. Prints the changed lines of bc. Needs apt, dpkg-dev,
# patch, bison, flex, gcc, apache2-dev and libapr1-dev. Exits with 3 if one of them is missing. Exits
# with 4 if the source cannot be fetched.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
here=$root/benchmarks/httpd/bc
patch=$root/patches/bc-1.07/module.patch
[ $# = 1 ] || { echo "usage: build.sh FOLDER" >&2 && exit 2; }
mkdir -p "$1/bc-build"
folder=$(cd "$1" && pwd)
work=$folder/bc-build

needs() {
    command -v "$1" >/dev/null || { echo "bc: there is no $1 (package $2)" >&2 && exit 3; }
}
needs apt-get apt
needs dpkg-source dpkg-dev
needs patch patch
needs bison bison
needs flex flex
needs gcc gcc
needs apxs apache2-dev
needs apr-1-config libapr1-dev

# The lists of sources are in FOLDER, so nothing of the system changes.
fetch() {
    local apt=$work/apt file
    mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial"
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/sources/$(basename "$file")"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        sed -n 's/^deb /deb-src /p' "$file" >"$apt/sources/$(basename "$file")"
    done
    local options=(-q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/sources"
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache")
    (
        cd "$work"
        apt-get "${options[@]}" update >"$apt/log" 2>&1
        apt-get "${options[@]}" source --download-only bc >>"$apt/log" 2>&1
    ) || { tail -n 5 "$apt/log" >&2 && echo "bc: its source could not be fetched" >&2 && exit 4; }
}

compgen -G "$work/bc_*.dsc" >/dev/null || fetch
rm -rf "$work/source"
dpkg-source -x "$(compgen -G "$work/bc_*.dsc")" "$work/source" >"$work/unpack.log" 2>&1
rm -rf "$work/original"
cp -r "$work/source" "$work/original"
patch -s -d "$work/source" -p1 <"$patch"

printf '#define %s\n' 'HAVE_LIMITS_H 1' 'HAVE_STDARG_H 1' 'HAVE_STDLIB_H 1' 'HAVE_STRING_H 1' 'HAVE_UNISTD_H 1' \
    'STDC_HEADERS 1' 'BC_COPYRIGHT ""' 'PACKAGE "bc"' 'VERSION "of the distribution"' >"$work/source/config.h"
# The library of `bc -l` is made by a bc that exists already. The module has none.
echo '{NULL};' >"$work/source/bc/libmath.h"
(
    cd "$work/source/bc"
    bison -y -d -o bc.c bc.y 2>"$work/bison.log"
    flex -I -8 -o scan.c scan.l
)
flags=(-O2 -w -std=gnu11 -fPIC -fvisibility=hidden -DHAVE_CONFIG_H
    "-I$work/source" "-I$work/source/h" "-I$work/source/bc" "-I$here")
objects=()
for file in "$work"/source/bc/{main,bc,scan,execute,load,storage,util,global,warranty}.c \
    "$work"/source/lib/number.c; do
    object=$work/$(basename "$file" .c).o
    gcc "${flags[@]}" -c "$file" -o "$object"
    objects+=("$object")
done
gcc -O2 -Wall -Wextra -fPIC -fvisibility=hidden -D_GNU_SOURCE "-I$(apxs -q INCLUDEDIR)" \
    "-I$(apr-1-config --includedir)" "-I$root/include" "-I$root/apps/calculator" -shared \
    "$here/mod_bc.c" "$root/apps/calculator/growth.c" "${objects[@]}" -o "$folder/mod_bc.so"

changed=$(diff -r -U0 "$work/original" "$work/source" -x config.h -x libmath.h -x bc.c -x scan.c \
    -x bc.h | grep -c '^+[^+]' || :)
all=$(cd "$work/original" && cat bc/{bc.y,scan.l} bc/{main,execute,load,storage,util,global,warranty}.c \
    bc/{bcdefs,const,global,proto}.h lib/number.c h/number.h | wc -l)
rm -rf "$work/original"
echo "mod_bc.so: $changed lines of $all added or changed"
