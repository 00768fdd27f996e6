# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the exact counts in the `measures` of a run."""

INSTRUCTIONS = "instructions"
L1_MISSES = "l1_misses"
LL_MISSES = "ll_misses"
COUNTS = (INSTRUCTIONS, L1_MISSES, LL_MISSES)
"""Executed instructions; simulated misses of the first and of the last cache level."""
