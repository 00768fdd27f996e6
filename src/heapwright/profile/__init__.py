# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a recorded program asked of malloc: the pass over its trace, and repetitions of it."""
