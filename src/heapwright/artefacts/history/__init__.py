# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of stored comparisons over time, and the changes in them."""
