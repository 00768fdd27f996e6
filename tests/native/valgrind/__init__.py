# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Counts under valgrind, held against allocators whose counts are known by construction."""
