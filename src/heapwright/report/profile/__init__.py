# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a recorded program asks of malloc, as a page and on a terminal; and what changed since."""
