#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Compares two builds of a program in one job, and passes or fails. The templates beside it call it.
# `heapwright` must be on the PATH. The settings are variables of the environment:
#
#   GATE_COMMAND    the command, with {build} for the folder of a build: '{build}/server --selftest'
#   GATE_BASE       the folder of the build from before the change
#   GATE_NEW        the folder of the build with the change
#   GATE_BLOCKS     measured blocks; both builds run once in each (default: 20)
#   GATE_MARGIN     changes up to this do not matter (default: 5%)
#   GATE_RESPONSES  what is judged (default: time,memory)
#   GATE_PASS       the answers that pass, of same, faster, slower and undecided (default: same,faster)
#   GATE_OPTIONS    further options of `heapwright compare`, such as --exact (default: none)
#   GATE_FOLDER     where the results go (default: heapwright-gate)
#   GATE_TOKEN      the token that may comment on the merge request or pull request (default: none)
#   GATE_COMMENT_SECONDS  the time for the comment (default: 60)
#
# It writes comparison.json, gate.json, comment.md and picture.svg to that folder. A job on GitHub has
# the comment in its summary. comment.py, beside this file, writes it to the merge request or pull
# request. The exit status is that of `heapwright gate`, or 2 for bad settings. No failure of the
# comment changes it.
set -euo pipefail
export -n GATE_TOKEN # the builds do not inherit it

refuse() {
    printf 'gate.sh: %s\n' "$@" >&2
    exit 2
}

command=${GATE_COMMAND:-}
[[ $command == *"{build}"* ]] ||
    refuse "GATE_COMMAND '$command' has no {build}, so both builds would be the same" \
        "write {build} for the folder of a build, as in '{build}/server --selftest'"
command -v heapwright >/dev/null ||
    refuse "there is no heapwright on the PATH" "install it: packaging/install.sh FOLDER"

# in_build NAME: the command of one build.
in_build() {
    local name=$1 folder=${!1:-}
    [[ -d $folder ]] || refuse "$name '$folder' is not a folder: it should be that of a build"
    printf -v folder %q "$folder"
    printf %s "${command//"{build}"/"$folder"}"
}
base=$(in_build GATE_BASE)
new=$(in_build GATE_NEW)

results=${GATE_FOLDER:-heapwright-gate}
mkdir -p "$results"
rm -f "$results"/{comparison.json,gate.json,comment.md,picture.svg}

# Both builds run in the same blocks, so that a change of the machine concerns both alike.
read -ra options <<<"${GATE_OPTIONS:-}"
status=0
heapwright compare -n "${GATE_BLOCKS:-20}" --command "base=$base" --command "new=$new" \
    --json "$results/comparison.json" "${options[@]}" || status=$?
# With status 1 a build failed in all its runs. The gate says which one.
[[ $status -le 1 && -s $results/comparison.json ]] || exit "$status"

status=0
heapwright gate "$results/comparison.json" --margin "${GATE_MARGIN:-5%}" \
    --response "${GATE_RESPONSES:-time,memory}" --pass "${GATE_PASS:-same,faster}" \
    --json "$results/gate.json" --markdown "$results/comment.md" --svg "$results/picture.svg" || status=$?

place=
[[ -z ${CI_JOB_URL:-} ]] || place=$CI_JOB_URL/artifacts/browse/$results/
[[ -z ${GITHUB_RUN_ID:-} ]] || place=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID#artifacts
if [[ -f $results/comment.md ]]; then
    [[ -z $place ]] || printf '\n[The picture and all documents](%s)\n' "$place" >>"$results/comment.md"
    [[ -z ${GITHUB_STEP_SUMMARY:-} ]] || cat "$results/comment.md" >>"$GITHUB_STEP_SUMMARY"
    # heapwright needs python3, so there is one. -I ignores PYTHONPATH, which a job may set for its program.
    export GATE_TOKEN
    python3 -I "$(dirname "$0")/comment.py" "$results" || true
fi
exit "$status"
