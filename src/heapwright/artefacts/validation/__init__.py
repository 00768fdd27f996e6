# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of a stand-in with the original library that it replaces."""
