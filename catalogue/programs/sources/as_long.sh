#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks that HEARD is as long as RECORDED, but for the fraction that a lossy coder adds and removes
# at both ends. At this rate it is a tenth of a second. Usage: as_long.sh HEARD RECORDED
set -eu
heard=$(stat -c %s "$1")
recorded=$(stat -c %s "$2")
allowed=17640
[ "$heard" -ge $((recorded - allowed)) ] && [ "$heard" -le $((recorded + allowed)) ] && exit 0
echo "$heard bytes were heard of $recorded"
exit 1
