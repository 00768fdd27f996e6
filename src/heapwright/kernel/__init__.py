# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Real kernels: built one for each object allocator, and booted in a virtual machine."""
