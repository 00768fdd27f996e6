# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The runs behind the taxonomy: which are made, how one is made, in what order, and until when."""
