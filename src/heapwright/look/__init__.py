# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the memory of a running process or a core file, and judges what it sees."""
