# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Passes on the output of sysbench, with the 99th percentile in place of the histogram of latencies. It is the first value
# up to which 99 % of the transactions lie, by the rule of sysbench itself. Adds the mean time of each kind of operation over
# all threads, if a script prints these.
$1 == "kind" { count[$2] += $3; spent[$2] += $4; next }
/^ *[0-9.]+ \|/ { value[++bins] = $1; here[bins] = $NF; all += $NF; next }
{ print }
END {
    for (kind in count) if (count[kind]) printf "%s_us %.3f\n", kind, spent[kind] / count[kind]
    for (bin = 1; bin <= bins; bin++) {
        below += here[bin]
        if (below >= 0.99 * all) { print "99 % took at most", value[bin]; break }
    }
}
