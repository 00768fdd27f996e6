#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Answers a real question: which allocator suits a Perl script that fills a hash and sorts its keys?
# Builds the tool, installs the peers if it may, compares the deployable allocators, and keeps the raw
# results in .demo/. Perl is on every Debian system, allocates each value, and has no pools of its
# own. Without the tool's environment, it runs a C++ compiler under each composition instead.
set -euo pipefail
cd "$(dirname "$0")/.."

source_file=native/runner/run/accounts.cpp
compile=(g++ -std=c++20 -O2 -Iinclude -Inative -c "$source_file" -o /dev/null)

if ! make --no-print-directory .venv/installed PYTHON="${PYTHON:-python3}"; then
    echo
    echo "demo: no environment for the tool (the reason is above); building the allocators alone."
    exec scripts/allocators-alone.sh "${compile[@]}"
fi
scripts/packages.sh peers
mkdir -p .demo
export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 # the same order of keys in each run: less scatter
# shellcheck disable=SC2016 # the variables belong to Perl
script='my %h; $h{$_} = [$_, "x$_"] for 1..120000; my @k = sort keys %h'
echo
echo "\$ heapwright compare --budget 2.5 --json .demo/compare.json -- perl -e '$script'"
.venv/bin/heapwright compare --budget 2.5 --json .demo/compare.json -- perl -e "$script"
echo
echo "Your own program:   .venv/bin/heapwright compare --budget 5 -- ./program its arguments"
echo "One more library:   .venv/bin/heapwright compare -a default,./libmine.so -- ./program"
echo "Why its memory is what it is:   .venv/bin/heapwright explain -- ./program"
