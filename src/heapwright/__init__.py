# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Heapwright's laboratory: which memory allocator should a program run on?

The stages (`experiment`, `analysis`, `report`) import only `artefacts` and `base`. `commands` joins
them, and `cli` has the options and the help.
"""

__version__ = "0.1.0"
