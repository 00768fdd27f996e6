# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Source this file. `stage NAME COMMAND ARG…` runs a command and records its wall and processor time.
# `stage_table TITLE` prints one line for each recorded stage and one for the sum.
# shellcheck shell=bash

stage_rows=()

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

stage_table() {
    [ ${#stage_rows[@]} -gt 0 ] || return 0
    printf '%s\n' "${stage_rows[@]}" | awk -v title="$1" '
        BEGIN { printf "%s: %-24s %10s %12s\n", title, "stage", "wall", "processor" }
        {
            printf "%s: %-24s %8.0f s %10.0f s%s\n", title, $1, $3, $4 + $5, $2 ? "  FAILED" : ""
            wall += $3; processor += $4 + $5
        }
        END { printf "%s: %-24s %8.0f s %10.0f s\n", title, "all", wall, processor }'
}
