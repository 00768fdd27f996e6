# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Call stacks with amounts of memory, from profiles and from files of other tools."""
