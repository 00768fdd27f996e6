# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Allocators: the catalogue, the user's own, and the statistics that granary prints."""
