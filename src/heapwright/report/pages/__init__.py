# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What all pages share: the frame with its style, tables, and places for charts."""
