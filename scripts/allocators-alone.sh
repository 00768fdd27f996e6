#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# allocators-alone.sh COMMAND ARG…: runs a command under each composed allocator, without the tool's
# Python environment. One command of the C++ compiler builds each library into build/alone/. The
# script reports how the command ended. From the loader's output, it reports whether the allocator
# was in effect. It measures nothing: the seconds are those of one run. Needs a C++ compiler and the
# standard library of python3 3.11.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || {
    echo "usage: scripts/allocators-alone.sh COMMAND ARG…" >&2
    exit 2
}
missing() {
    echo "alone: $1" >&2
    echo "       On Debian or Ubuntu: apt-get install $2" >&2
    exit 3
}
python=${PYTHON:-python3}
compiler=$(command -v "${CXX:-g++}" || command -v c++ || command -v clang++) || missing "there is no C++ compiler" "g++"
command -v "$python" >/dev/null || missing "there is no $python" "python3"
"$python" -c 'import tomllib' 2>/dev/null ||
    missing "$("$python" --version 2>&1) cannot read the catalogue: 3.11 or newer is needed (PYTHON=… names another)" "python3"

folder=$PWD/build/alone
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case $folder in
*[[:space:]:]*) folder=$scratch/alone ;; # LD_PRELOAD would take such a path for two
esac
mkdir -p "$folder"
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# The flags of native/preload/CMakeLists.txt, which gives the reasons. The C++ runtime is left out,
# which the compiler driver would link by default.
flags=(-std=c++20 -O2 -DNDEBUG -fPIC -shared -Iinclude -Inative
    -fvisibility=hidden -fvisibility-inlines-hidden -fsemantic-interposition
    -ftls-model=initial-exec -fno-exceptions -fno-rtti -funwind-tables -fno-plt -ffunction-sections
    -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free
    -fno-builtin-aligned_alloc -fno-builtin-memalign -fno-builtin-posix_memalign
    "-Wl,--version-script=native/preload/exports.map" "-Wl,-z,initfirst" "-Wl,-z,nodelete" "-Wl,-z,now"
    "-Wl,-z,relro" "-Wl,-z,noexecstack" "-Wl,-z,defs" "-Wl,--as-needed" "-Wl,--gc-sections"
    "-Wl,-z,noseparate-code" "-Wl,--sort-section=alignment" "-Wl,-z,max-page-size=65536")
libraries=(-nodefaultlibs -ldl -lc -lgcc)
processor=$(uname -m)
deep_binding=()
[ ! -f "native/preload/deep_binding/$processor.cpp" ] ||
    deep_binding=(native/preload/deep_binding/next.cpp "native/preload/deep_binding/$processor.cpp")

# build NAME HEADER TYPE [ENTRY_POINTS,…]
build() {
    local includes=''
    [ -z "$4" ] || includes="#include <preload/entry_points/${4//,/.inc>\\n#include <preload/entry_points/}.inc>"
    sed -e "s|@name@|$1|g; s|@header@|$2|g; s|@type@|$3|g; s|@PROJECT_VERSION@|$version|g; s|@entry_points@|$includes|g" \
        native/preload/library.cpp.in >"$folder/$1.cpp"
    "$compiler" "${flags[@]}" "$folder/$1.cpp" "${deep_binding[@]}" -o "$folder/libheapwright-$1.so" \
        "${libraries[@]}" >"$folder/$1.log" 2>&1
}

# run [LIBRARY] -- COMMAND ARG…: Sets status and seconds, and counts the processes with malloc from
# the library or from elsewhere (others). The loader writes a file for each process.
run() {
    local library='' said=$scratch/loader
    [ "$1" = -- ] || { library=$1 && shift; }
    shift
    rm -rf "$said" && mkdir "$said"
    local -a settings=()
    [ -z "$library" ] || settings=(LD_PRELOAD="$library" LD_DEBUG=bindings LD_DEBUG_OUTPUT="$said/of")
    local TIMEFORMAT=%R
    status=0
    { time env "${settings[@]}" "$@" </dev/null >"$scratch/stdout" 2>"$scratch/stderr"; } 2>"$scratch/time" || status=$?
    seconds=$(tail -n 1 "$scratch/time")
    ours=0 others=0
    [ -n "$library" ] || return 0
    # `env` becomes the command, so the loader writes the bindings of both into one file.
    local file bindings
    for file in "$said"/of.*; do
        [ -f "$file" ] || continue
        bindings=$(grep -F "symbol \`malloc'" "$file" | grep -vF "binding file $library " || true)
        if [ -z "$bindings" ]; then
            continue # it never called malloc
        elif grep -qvF " to $library " <<<"$bindings"; then
            others=$((others + 1))
        else
            ours=$((ours + 1))
        fi
    done
}

ending() {
    if [ "$status" = 0 ]; then
        echo "ended well"
    elif [ "$status" -gt 128 ]; then
        echo "DIED of signal $((status - 128)) ($(kill -l $((status - 128)) 2>/dev/null || echo unknown))"
    else
        echo "FAILED with status $status"
    fi
}
words() { tail -n 3 "$scratch/stderr" | sed 's/^/      /'; }

echo "alone: \$ $*"
run -- "$@"
printf '  %-22s %s, %s s\n' "the C library's malloc" "$(ending)" "$seconds"
if [ "$status" != 0 ]; then
    words
    echo "alone: the command fails without any allocator of heapwright, so it shows nothing." >&2
    exit 1
fi

composed=$("$python" scripts/composed.py catalogue/allocators.toml)
failed=0
while IFS='|' read -r name header type entry_points; do
    if ! build "$name" "$header" "$type" "$entry_points"; then
        printf '  %-22s NOT BUILT by %s:\n' "$name" "$compiler"
        grep -m 3 -E 'error|undefined' "$folder/$name.log" | sed 's/^/      /' || tail -n 3 "$folder/$name.log"
        failed=1
        continue
    fi
    run "$folder/libheapwright-$name.so" -- "$@"
    if [ "$ours" = 0 ]; then
        effect="NOT IN EFFECT in any process (is the command linked statically?)"
        failed=1
    elif [ "$others" != 0 ]; then
        effect="in effect in $ours processes, NOT in $others"
    else
        effect="in effect in all its processes ($ours)"
    fi
    printf '  %-22s %s, %s s; %s\n' "$name" "$(ending)" "$seconds" "$effect"
    [ "$status" = 0 ] || { words && failed=1; }
done <<<"$composed"

echo
echo "These seconds are one run each, with the loader reporting: not a comparison."
echo "For the comparison the tool needs its Python environment; scripts/environment.sh prints the missing requirements:"
"$python" -c 'import ensurepip, venv' 2>/dev/null || echo "  no venv with pip here: apt-get install python3-venv"
echo "  a network for pip, or a folder of wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER)"
echo "Then: make demo"
exit $failed
