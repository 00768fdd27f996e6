#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# custom-or-general.sh PROGRAM WAY AMOUNT: switches the custom allocator of each program of the study
# on and off. WAY is
#
#   custom    the program as it is: with its own allocator
#   general   without it: each object is one of malloc's
#   reap      with a reap in its place, where that fits; else as `general`
#
# In the environment: FOLDER is that of the studies, NATIVE that of the compiled parts, PYTHON an
# interpreter. PERCENT is the share of AMOUNT that is done. The preloaded allocator of a run stays
# preloaded.
set -eu

program=$1 way=$2 amount=$((($3 * PERCENT + 99) / 100))
programs=$FOLDER/programs hosts=$NATIVE/workloads/hosts workloads=$NATIVE/workloads

case $way in
custom | general | reap) ;;
*)
    echo "custom-or-general: there is no way $way" >&2
    exit 2
    ;;
esac

# The word for this way: of custom, general, reap; a dash where a reap does not fit.
word() {
    case $way in
    custom) echo "$1" ;;
    general) echo "$2" ;;
    reap) if [ "$3" = - ]; then echo "$2"; else echo "$3"; fi ;;
    esac
}

# Preloads a heapwright library, after the existing preloads.
preload() {
    [ "$1" = none ] || export LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$NATIVE/lib/lib$1.so"
}

case $program in
cpython)
    PYTHONMALLOC=$(word pymalloc malloc -)
    export PYTHONMALLOC
    exec "$PYTHON" -S "$programs/objects.py" "$amount"
    ;;
glib)
    G_SLICE=$(word '' always-malloc -)
    export G_SLICE
    exec "$hosts/glib-host" "$amount"
    ;;
sqlite) exec "$PYTHON" "$programs/statements.py" "$(word default none -)" "$amount" ;;
lua) exec "$hosts/lua-host" "$(word pool general reap)" 1 "$programs/trees.lua" "$amount" ;;
lua-requests)
    exec "$hosts/lua-host" "$(word region general reap)" "$amount" "$programs/requests.lua" 200
    ;;
apr)
    preload "$(word none heapwright-apr-emulated heapwright-apr)"
    exec "$hosts/apr-host" "$amount"
    ;;
node-containers | xalloc-parser | obstack-parser | region-parser | region-compiler)
    case $program in
    node-*) own=pool ;;
    xalloc-*) own=xalloc ;;
    obstack-*) own=library ;;
    *) own=region ;;
    esac
    custom=$(word $own general reap)
    exec "$workloads/$program" --threads 1 --custom "$custom" --scale "${amount}e-2"
    ;;
*)
    echo "custom-or-general: there is no program $program" >&2
    exit 2
    ;;
esac
