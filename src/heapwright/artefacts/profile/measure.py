# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the amounts of call sites can be."""

from enum import StrEnum


class Measure(StrEnum):
    """Bytes requested, calls, bytes live at the peak, or bytes never freed."""

    BYTES = "bytes"
    CALLS = "calls"
    PEAK = "peak"
    NEVER_FREED = "never-freed"
