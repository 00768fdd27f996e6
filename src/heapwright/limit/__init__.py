# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a command kept its budgets of memory, and which call sites did not."""
