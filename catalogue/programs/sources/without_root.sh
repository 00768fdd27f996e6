#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: without_root.sh COMMAND ARG…
#
# Runs a command that refuses to run as root. Root gets a user namespace in which its number is 1000.
# There the command can still read and write the files of root. The command replaces this process,
# so a preload stays in force and is proven. Standard error goes to standard output, because a recording
# keeps only the latter.
set -eu
exec 2>&1
[ "$(id -u)" = 0 ] || exec "$@"
exec unshare --user --map-user=1000 --map-group=1000 -- "$@"
