# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies before they are run: which there are, what a study file comes to, and new ones."""
