# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the layout, the rules for includes and imports, and the pages about them."""
