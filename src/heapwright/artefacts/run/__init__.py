# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One run: how it ended, what it cost, where it was made, and the journal of runs."""
