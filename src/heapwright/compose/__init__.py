# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a type expression to an allocator that is in the user's registry.

text ─► `expression` ─► edits, missing rungs ─► a header of named rungs ─► library ─► conformance
"""
