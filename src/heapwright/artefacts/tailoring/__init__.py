# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The artefacts of a search for an allocator: its folder, and its answer."""
