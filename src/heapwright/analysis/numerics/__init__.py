# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions, roots and ranks for answers in the terminal.

A base installation has no SciPy, which would double its size. The analysis of studies uses SciPy,
and the tests compare these functions with it.
"""
