#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# as_long.sh HEARD RECORDED: that HEARD is as long as RECORDED, but for the fraction that a lossy
# coder adds and takes away at both ends (a tenth of a second at this rate).
set -eu
heard=$(stat -c %s "$1")
recorded=$(stat -c %s "$2")
allowed=17640
[ "$heard" -ge $((recorded - allowed)) ] && [ "$heard" -le $((recorded + allowed)) ] && exit 0
echo "$heard bytes were heard of $recorded"
exit 1
