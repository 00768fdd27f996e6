# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Passes on what sysbench prints but for the histogram of latencies, of which it says the 99th percentile: the first value
# up to which 99 % of the transactions lie, as sysbench finds its own. Adds the mean time of each kind of operation over all
# threads, where a script prints such.
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
