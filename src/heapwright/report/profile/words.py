# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a profile in words: memory, times, shares, addresses, threads, sites."""

import math
from html import escape

from heapwright.artefacts.profile.document import Profile, Site

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
NOTHING = "-"


def unit_for(most: float) -> tuple[float, str]:
    """The unit that a series up to `most` bytes is drawn in, and its name."""
    power = min(int(math.log(most, 1024)), len(UNITS) - 1) if most >= 1024 else 0
    return float(1024**power), UNITS[power]


def memory(value: float | None) -> str:
    """`3.42 MiB`; bytes are whole."""
    if value is None:
        return NOTHING
    size, unit = unit_for(abs(value))
    if size > 1 and abs(value) / size >= 1023.5:  # reads as the next unit
        size, unit = unit_for(1024 * size)
    return f"{value:,.0f} B" if size == 1 else f"{digits(value / size)} {unit}"


def digits(value: float) -> str:
    """Three digits, without an exponent where that can be."""
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    places = 1 if size >= 9.995 else 2 if size >= 0.0995 or size == 0 else 3
    return f"{value:.{places}f}".rstrip("0").rstrip(".") if size < 99.95 else f"{value:,.0f}"


def count(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def share(value: float | None) -> str:
    """`12.3 %`. Values close to 0 % or 100 % are not rounded to these."""
    if value is None:
        return NOTHING
    if 0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return f"{100 * value:.0f} %" if value in (0, 1) else f"{100 * value:.1f} %"


def duration(seconds: float | None) -> str:
    """`3.2 ms`."""
    if seconds is None:
        return NOTHING
    if seconds >= 120:
        return f"{seconds / 60:,.1f} min"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{digits(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def times(value: float | None) -> str:
    return NOTHING if value is None else f"{digits(value)}x"


def escaped(text: str) -> str:
    """As HTML."""
    return escape(text, quote=True)


def signed(text: str, value: float) -> str:
    """`text` is of the size of `value`; its sign goes before."""
    return f"+{text}" if value > 0 else f"-{text}" if value < 0 else text


def command_of(profile: Profile) -> str:
    """The recorded command, as one line."""
    return " ".join(profile.provenance.command) or profile.provenance.trace or "a program"


def pattern_of(profile: Profile) -> str:
    return profile.pattern.kind or "no long-lived allocations"


def place_of(site: Site) -> str:
    """The function of the program that made the request, without those of the standard
    libraries."""
    return site.place or f"stack {site.stack}"


def chain_of(site: Site, callers: int = 3) -> str:
    """That function and the functions of the program that called it, outwards."""
    return " ← ".join(site.own_calls[: callers + 1] or (place_of(site),))
