#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# peers.sh: fetch the newest releases of other people's allocators, as benchmarks/peers/ pins them, build them,
# and put the libraries where heapwright looks for them. Exits 3 when a tool is missing, 4 when
# something could not be fetched or built.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${HEAPWRIGHT_HOME:=${XDG_DATA_HOME:-$HOME/.local/share}/heapwright}"
work=$PWD/build/peers
log=$work/log

for tool in cargo cmake c++ make; do
    PATH=$PWD/.venv/bin:$PATH command -v "$tool" >/dev/null || {
        echo "peers: there is no $tool; on Debian or Ubuntu: apt-get install cargo cmake g++ make" >&2
        exit 3
    }
done
mkdir -p "$work" "$HEAPWRIGHT_HOME/peers"
: >"$log"

say() { echo "peers: $1"; }
fail() {
    echo "peers: $1; the last lines of $log:" >&2
    tail -n 15 "$log" | sed 's/^/    /' >&2
    exit 4
}

say "fetching sources (log: build/peers/log)"
rm -rf "$work/sources" "$work/wheels" "$work/fetch"
mkdir "$work/fetch"
cp benchmarks/peers/Cargo.toml "$work/fetch"
touch "$work/fetch/none.rs"
cargo vendor --manifest-path "$work/fetch/Cargo.toml" "$work/sources" >>"$log" 2>&1 </dev/null ||
    fail "cargo could not fetch them"
while read -r checksum package; do
    case "$checksum" in '' | '#'*) continue ;; esac
    grep -q "\"package\":\"$checksum\"" "$work/sources/$package/.cargo-checksum.json" || {
        echo "peers: $package is not what benchmarks/peers/checksums.txt says" >&2
        exit 4
    }
done <benchmarks/peers/checksums.txt
.venv/bin/pip install -q --no-deps --require-hashes --target "$work/wheels" -r benchmarks/peers/requirements.txt \
    >>"$log" 2>&1 </dev/null || fail "pip could not fetch mimalloc"

say "building, which takes some minutes"
PATH=$PWD/.venv/bin:$PATH
cmake -S benchmarks/peers -B "$work/build" -DPEERS_SOURCES="$work/sources" -DPEERS_LIBRARIES="$work/libraries" \
    >>"$log" 2>&1 || fail "cmake could not prepare the build"
cmake --build "$work/build" --parallel "$(nproc)" >>"$log" 2>&1 || fail "they could not be built"
cp "$work/wheels/cmeel.prefix/lib/libmimalloc.so" "$work/libraries/libmimalloc-latest.so"

cp "$work"/libraries/lib*.so "$HEAPWRIGHT_HOME/peers/"
say "these are in $HEAPWRIGHT_HOME/peers now:"
for library in "$HEAPWRIGHT_HOME"/peers/lib*.so; do echo "  ${library##*/}"; done
