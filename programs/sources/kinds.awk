# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Passes on what sysbench prints, and adds the mean time of each kind of operation over all threads.
$1 == "kind" { count[$2] += $3; spent[$2] += $4; next }
{ print }
END { for (kind in count) if (count[kind]) printf "%s_us %.3f\n", kind, spent[kind] / count[kind] }
