# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons over commits: their figures as series, and the changes in them."""
