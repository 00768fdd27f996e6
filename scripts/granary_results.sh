#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# granary_results.sh: Prints the page docs/results/granary/instructions.md: instructions of calls of
# granary and its peers. It takes some minutes.
#
#     scripts/granary_results.sh >docs/results/granary/instructions.md
set -euo pipefail

cd "$(dirname "$0")/.."
calls=${CALLS:-20000}
python=${PYTHON:-$PWD/.venv/bin/python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat <<'EOF'
<!-- SPDX-FileCopyrightText: The Heapwright authors -->
<!-- SPDX-License-Identifier: Apache-2.0 -->

# Instructions of granary and its peers

This page counts what the calls of malloc and free cost without caches and pages. Read it beside
[the study](README.md), which measures programs. `scripts/granary_results.sh` prints it.

## Instructions of malloc and free
EOF
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
with_variables() {
    AMOUNT=$amount FOLDER=$PWD/catalogue/studies NATIVE=$native PYTHON=$python DATA=$work/programs OPTIONS='' \
        "$@" >"$work/printed" 2>&1 || { cat "$work/printed" >&2 && exit 1; }
}
traces=()
for program in 'browser 400' 'compiler 0' 'cpython 1' 'perl 1' 'server 400' 'sqlite 700'; do
    read -r name amount <<<"$program"
    with_variables sh catalogue/studies/programs/granary.sh prepare "$name" command "$amount" "$amount"
    with_variables "$python" -m heapwright record -q --follow-children -o "$work/$name.trace" -- \
        sh catalogue/studies/programs/granary.sh run "$name" command 1
    traces+=("$work/$name.trace")
done
echo
"$python" benchmarks/calls/tail.py --calls "$calls" "${traces[@]}" 2>>"$work/said"
if [ -s "$work/said" ]; then
    echo
    sort -u "$work/said" | sed 's/^/- /'
fi
