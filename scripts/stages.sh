# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Source this file. `stage NAME COMMAND ARG…` runs a command and records its wall and processor time.
# `stage_beside NAME COMMAND ARG…` starts one beside the stages that follow, and `stage_join` waits for
# it. `stage_table TITLE` prints one line for each recorded stage and one for all of them.
# shellcheck shell=bash

stage_rows=()
beside='' # the process group of the command that runs beside the stages

# Returns the status of the command. The processor time is that of the command and of all its
# descendants that were waited for, user and system together.
stage() {
    local name=$1 status=0 TIMEFORMAT='%R %U %S' clock
    shift
    clock=$(mktemp)
    { time "$@" 2>&3 3>&-; } 3>&2 2>"$clock" || status=$?
    stage_rows+=("$name $status $(tail -n 1 "$clock")")
    rm -f "$clock"
    return "$status"
}

# Its priority is a little lower, so it takes what the stages leave of the processors. With a much lower one,
# it would miss the limits of time in the tests. What it prints appears when it is joined.
stage_beside() {
    beside_name=$1 beside_files=$(mktemp -d)
    shift
    set -m # a process group of its own
    {
        TIMEFORMAT='%R %U %S'
        time nice -n 5 "$@" >"$beside_files/printed" 2>&1
    } 2>"$beside_files/clock" </dev/null &
    set +m
    beside=$!
}

# Returns the status of the command that ran beside the stages.
stage_join() {
    local status=0
    wait "$beside" || status=$?
    beside=''
    cat "$beside_files/printed"
    stage_rows+=("$beside_name $status $(tail -n 1 "$beside_files/clock")")
    rm -r "$beside_files"
    return "$status"
}

# Ends what still runs beside the stages, and prints the last lines of its output.
stage_end_beside() {
    [ -n "$beside" ] || return 0
    echo "$beside_name: ended, because this run ends"
    kill -- "-$beside" 2>/dev/null || true
    wait "$beside" || true
    tail -n 50 "$beside_files/printed" || true
    rm -r "$beside_files"
}

stage_table() {
    [ ${#stage_rows[@]} -gt 0 ] || return 0
    printf '%s\n' "${stage_rows[@]}" | awk -v title="$1" -v wall="$SECONDS" '
        BEGIN { printf "%s: %-24s %10s %12s\n", title, "stage", "wall", "processor" }
        {
            printf "%s: %-24s %8.0f s %10.0f s%s\n", title, $1, $3, $4 + $5, $2 ? "  FAILED" : ""
            processor += $4 + $5
        }
        END { printf "%s: %-24s %8.0f s %10.0f s\n", title, "all", wall, processor }'
}
