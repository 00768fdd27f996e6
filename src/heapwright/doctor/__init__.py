# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Is this machine fit to measure on? docs/reference/doctor.md has every check."""
