# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations of the kernel's allocators: their loads and their results."""
