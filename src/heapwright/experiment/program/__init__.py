# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Real programs under study: their data, their servers and clients, one run of each."""
