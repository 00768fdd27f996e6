# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study as one page: what came out first, then the figures, then every run behind them."""
