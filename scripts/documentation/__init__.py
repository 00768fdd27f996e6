# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: its generated pages, its navigation, its diagrams."""
