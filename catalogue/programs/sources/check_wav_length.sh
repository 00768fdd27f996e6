#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: check_wav_length.sh HEARD RECORDED
# Checks that both files have the same length. A lossy coder may add or remove a tenth of a second
# at the ends, which is 17,640 bytes at this rate.
set -eu
heard=$(stat -c %s "$1")
recorded=$(stat -c %s "$2")
allowed=17640
[ "$heard" -ge $((recorded - allowed)) ] && [ "$heard" -le $((recorded + allowed)) ] && exit 0
echo "$heard bytes were played, $recorded were recorded"
exit 1
