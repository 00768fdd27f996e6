# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The calculator answers as bc does, and frees what it allocates."""
