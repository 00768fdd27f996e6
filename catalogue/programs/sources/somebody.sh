#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs COMMAND… as a user other than root. Root maps itself to another user in a separate namespace.
# The command sees that user, and can still read and write the files of root. The command replaces this process, so a preload stays and is proven in it. Standard
# error goes to standard output, because a recording keeps only the latter.
set -eu
exec 2>&1
[ "$(id -u)" = 0 ] || exec "$@"
exec unshare --user --map-user=1000 --map-group=1000 -- "$@"
