# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Proposes allocators for a program from what it asked of malloc, and judges them."""
