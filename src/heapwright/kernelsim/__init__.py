# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Kernel-like traffic on models of the kernel's object allocators."""
