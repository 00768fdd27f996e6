# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of rankings on a program, on its replay and on its synthetic load."""
