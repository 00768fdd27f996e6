#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# granary_results.sh RESULTS: Prints the page docs/results/granary/README.md from the folder of a
# run of the study granary. It counts the instructions of calls for it, which takes some minutes.
#
#     heapwright study run granary --scale small -o granary
#     scripts/granary_results.sh granary >docs/results/granary/README.md
set -euo pipefail

[ $# -eq 1 ] || {
    echo "usage: granary_results.sh RESULTS" >&2
    exit 2
}
results=$(realpath "$1")
cd "$(dirname "$0")/.."
calls=${CALLS:-20000}
python=${PYTHON:-$PWD/.venv/bin/python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m heapwright report "$results" -q -o "$work/page.md"
cat "$work/page.md"

echo
echo "## Instructions of malloc and free"
echo
echo "As preloaded libraries, of one pair of calls beyond the loop (\`benchmarks/calls/fast_path.py\`), counted by"
echo "callgrind, under which there are no restartable sequences. Sizes to 256 bytes, then to 64:"
for most in 256 64; do
    echo
    "$python" benchmarks/calls/fast_path.py --most "$most" 2>>"$work/said"
done

echo
echo "## Instructions of single calls"
echo
echo "Of the first ${calls} calls of recorded programs (\`benchmarks/calls/tail.py\`), the first of all included; what"
echo "the kernel does is not:"
native=$("$python" -c 'from heapwright.base.native import native_dir; print(native_dir())')
for program in 'perl 1' 'sqlite 700'; do
    read -r name amount <<<"$program"
    AMOUNT=$amount FOLDER=$PWD/catalogue/studies NATIVE=$native PYTHON=$python DATA=$work OPTIONS='' \
        "$python" -m heapwright record -q -o "$work/$name.trace" -- \
        sh catalogue/studies/programs/granary.sh run "$name" command 1 >"$work/printed" 2>&1
done
echo
"$python" benchmarks/calls/tail.py --calls "$calls" "$work/perl.trace" "$work/sqlite.trace" 2>>"$work/said"
if [ -s "$work/said" ]; then
    echo
    sort -u "$work/said" | sed 's/^/- /'
fi
