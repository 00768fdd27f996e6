#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# The programs of the study granary:
#
#     granary.sh prepare PROGRAM KIND AMOUNT...   makes what so much of it needs: a page, a recorded trace
#     granary.sh run PROGRAM KIND THREADS         does AMOUNT of it
#
# KIND is `workload`, of which AMOUNT is in thousandths of its usual scale. It is `shared` for the
# same with a part of the work for each thread. It is `replay` for the trace that was recorded from
# the command of the same name. Or it is `command`. In the environment: FOLDER is that of the
# studies, NATIVE that of the compiled parts, and PYTHON an interpreter that has heapwright. OPTIONS
# are the workload's, and DATA is the folder for the prepared data. What a run is preloaded with
# stays preloaded, in a server and in what asks it as well.
set -eu

programs=$FOLDER/programs
DATA=${DATA:-${XDG_CACHE_HOME:-$HOME/.cache}/heapwright/granary}

fail() {
    echo "granary.sh: $*" >&2
    exit 2
}

# A server of files and folders, asked by eight connections that are not kept.
serve() {
    place=$(mktemp -d "${TMPDIR:-/tmp}/heapwright-granary-XXXXXX")
    port=$((20000 + $$ % 20000))
    cat >"$place/lighttpd.conf" <<CONF
server.modules = ("mod_indexfile", "mod_access", "mod_setenv", "mod_rewrite", "mod_dirlisting", "mod_staticfile", "mod_accesslog")
server.bind = "127.0.0.1"
server.port = $port
server.document-root = "$DATA/pages"
server.pid-file = "$place/pid"
accesslog.filename = "/dev/null"
dir-listing.activate = "enable"
mimetype.assign = (".html" => "text/html", "" => "text/plain")
setenv.add-response-header = ("X-Served-By" => "a program under test")
url.rewrite-once = ("^/item/([0-9]+)\$" => "/file-\$1.txt?from=item")
CONF
    "$lighttpd" -D -f "$place/lighttpd.conf" 2>"$place/log" &
    server=$!
    trap 'kill $server 2>/dev/null || :; wait $server || :; rm -rf "$place"' EXIT
    until [ -s "$place/pid" ]; do
        kill -0 $server 2>/dev/null || fail "the server ended: $(cat "$place/log")"
        sleep 0.01
    done
    for page in item/7 file-3.txt ''; do
        told=$(ab -q -c 8 -n "$1" "http://127.0.0.1:$port/$page" 2>&1) || fail "$told"
        case $told in
        *"Non-2xx"*) fail "answers of $page are wrong: $told" ;;
        *"Failed requests:        0"*) ;;
        *) fail "answers of $page are wrong: $told" ;;
        esac
    done
}

lighttpd=$(PATH=$PATH:/usr/sbin command -v lighttpd || echo lighttpd)

# The command of that name, AMOUNT of it.
command_of() {
    case $1 in
    compiler) exec g++ -std=c++20 "-O$2" -c "$programs/shapes.cpp" -o /dev/null ;;
    perl) PERL_HASH_SEED=0 exec perl "$programs/words.pl" "$2" ;;
    cpython) PYTHONHASHSEED=0 PYTHONMALLOC=malloc exec "$PYTHON" -S "$programs/objects.py" "$2" ;;
    sqlite) exec sqlite3 :memory: ".param init" ".param set :orders $2" ".read $programs/orders.sql" ;;
    browser) exec lynx -dump -nolist "$DATA/page-$2.html" ;;
    server) serve "$2" ;;
    *) fail "there is no command $1" ;;
    esac
}

# How much of each is recorded: about a million calls.
recorded() {
    case $1 in
    compiler) echo 0 ;;
    perl) echo 1 ;;
    cpython) echo 3 ;;
    sqlite) echo 10000 ;;
    browser) echo 2000 ;;
    server) echo 6000 ;;
    *) fail "nothing of $1 is recorded" ;;
    esac
}

page() {
    [ -f "$DATA/page-$1.html" ] || {
        perl "$programs/page.pl" "$1" >"$DATA/page-$1.new"
        mv "$DATA/page-$1.new" "$DATA/page-$1.html"
    }
}

pages() {
    [ -d "$DATA/pages" ] || {
        mkdir -p "$DATA/pages.new"
        for number in 0 1 2 3 4 5 6 7 8 9; do
            echo "File $number of a server's folder." >"$DATA/pages.new/file-$number.txt"
        done
        mv "$DATA/pages.new" "$DATA/pages"
    }
}

# What a command reads has to be there before it is recorded.
needs() {
    case $1 in
    browser) page "$2" ;;
    server) pages ;;
    esac
}

record() {
    plan=$DATA/$1.plan
    [ ! -f "$plan" ] || return 0
    many=$(recorded "$1")
    needs "$1" "$many"
    export DATA
    AMOUNT=$many HEAPWRIGHT_NATIVE=$NATIVE "$PYTHON" -m heapwright record -q --follow-children \
        -o "$plan.trace" -- sh "$programs/granary.sh" run "$1" command 1 >"$plan.log" 2>&1 || fail "$(cat "$plan.log")"
    "$NATIVE/bin/heapwright-replay" prepare "$plan.trace" -o "$plan.new" >"$plan.log" 2>&1 ||
        fail "$(cat "$plan.log")"
    rm -f "$plan.trace"
    mv "$plan.new" "$plan"
}

# All of it is made anew where it was made by another version of these files.
fresh() {
    mkdir -p "$DATA"
    version=$(cat "$programs/granary.sh" "$programs/page.pl" "$programs/shapes.cpp" "$programs/orders.sql" \
        "$programs/words.pl" "$programs/objects.py" "$NATIVE/bin/heapwright-replay" | cksum)
    [ "$(cat "$DATA/version" 2>/dev/null)" = "$version" ] || {
        rm -rf "$DATA"
        mkdir -p "$DATA"
        echo "$version" >"$DATA/version"
    }
}

# A replay is as short as allocators are fast: AMOUNT of them follow each other.
replay() {
    for _ in $(seq "$AMOUNT"); do
        "$NATIVE/bin/heapwright-replay" run "$DATA/$1.plan" --touch as-recorded-size --no-latencies \
            --resident 1048576
    done
}

# shellcheck disable=SC2086 # options are words
run() {
    case $2 in
    workload) exec "$NATIVE/workloads/$1" --threads "$3" --scale "${AMOUNT}e-3" $OPTIONS ;;
    shared) exec "$NATIVE/workloads/$1" --threads "$3" --scale "$((AMOUNT / $3))e-3" $OPTIONS ;;
    replay) replay "$1" ;;
    command) command_of "$1" "$AMOUNT" ;;
    *) fail "there is no kind $2" ;;
    esac
}

prepare() {
    fresh
    program=$1 kind=$2
    shift 2
    case $kind in
    replay) record "$program" ;;
    command) for many in "$@"; do needs "$program" "$many"; done ;;
    esac
}

case "${1:-} $#" in
prepare\ [4-9]) shift && prepare "$@" ;;
'run 4') shift && run "$@" ;;
*) fail "usage: granary.sh prepare PROGRAM KIND AMOUNT... | run PROGRAM KIND THREADS" ;;
esac
