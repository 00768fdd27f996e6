# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at processes with constructed heaps, and the verdicts on them."""
