# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The preloaded library that counts, and the headers for budgets in tests."""
