# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From workload runs to the rows of the taxonomy: pure functions, no input or output but the data
file beside them.

`rows.conclude` makes all rows. Each other module is one column. docs/reference/taxonomy.md explains
the limits.
"""
