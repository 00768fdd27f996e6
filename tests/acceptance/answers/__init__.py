# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs with a known truth, and whether `heapwright explain` is right about them."""
