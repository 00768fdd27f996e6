# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Heapwright's laboratory: which memory allocator should a program run on?

The stages (`experiment`, `analysis`, `report`) import only `artefacts`; `cli` joins them.
"""

__version__ = "0.1.0"
