# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of things, and bytes, in words."""


def several(number: int, singular: str, plural: str = "") -> str:
    """`1 block`, `1,234 blocks`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def size(count: int) -> str:
    """Bytes for people: `512 B`, `1.5 MiB`."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{count} B" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1024
    raise AssertionError
