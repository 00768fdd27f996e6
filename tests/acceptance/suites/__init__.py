# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Other projects' own tests of their software, under an allocator of this project."""
