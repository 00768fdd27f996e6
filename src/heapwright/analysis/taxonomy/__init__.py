# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From workload runs to the rows of the taxonomy: pure functions, no input or output but the data
file beside them.

`rows.conclude` is the whole way; the other modules are one column each. docs/reference/taxonomy.md
says in words which limits decide what, and why.
"""
