#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# somebody.sh COMMAND…: run it as somebody who is not root. Root maps itself to another user in a
# namespace of its own: the command sees that user, and what is root's can still be read and written.
# Both replace this process, so a preload stays and is proven in what it becomes. What it complains of goes where it
# prints, for a recording keeps only that.
set -eu
exec 2>&1
[ "$(id -u)" = 0 ] || exec "$@"
exec unshare --user --map-user=1000 --map-group=1000 -- "$@"
