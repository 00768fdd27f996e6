# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Responses in figures and words: the unit that suits what is drawn, and values with that unit."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from heapwright.artefacts.study_results.runs import Measured
from heapwright.report.profile.words import NOTHING, digits, duration, memory, unit_for

CROSS = " \u00d7 "
SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
BYTES = ("B", "bytes")


@dataclass(frozen=True, slots=True)
class Unit:
    """What a value is divided by to be drawn, and what that is called."""

    size: float
    name: str

    def drawn(self, value: float | None) -> float | None:
        """A value as it is drawn: four digits are more than a picture shows."""
        if value is None or not math.isfinite(value):
            return None
        return float(f"{value / self.size:.5g}")

    def title(self, what: str) -> str:
        return f"{what} ({self.name})" if self.name else what


def unit_of(response: Measured, values: Iterable[float | None]) -> Unit:
    """The unit in which most of the values are between 1 and 1000."""
    known = sorted(value for value in values if value is not None and value > 0)
    middle = known[len(known) // 2] if known else 1.0
    if response.unit == "s":
        return next(
            (Unit(size, name) for name, size in SECONDS if middle >= size), Unit(1e-9, "ns")
        )
    if response.unit in BYTES:
        return Unit(*unit_for(middle))
    return Unit(1.0, response.unit)


def text_of(response: Measured, value: float | None) -> str:
    """`3.2 ms`, `14 MiB`, `1,240 1/s`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if response.unit == "s":
        return duration(value) if value >= 0 else f"-{duration(-value)}"
    if response.unit in BYTES:
        return memory(value)
    return f"{figure(value)} {response.unit}".rstrip()


def figure(value: float) -> str:
    """Three digits; what is nothing but an error of rounding has no sign."""
    text = digits(value)
    return "0" if text == "-0" else text


def percent(value: float) -> str:
    """`+33 %` of 33.06; small ones with a digit behind the point."""
    places = 0 if abs(value) >= 9.95 else 1
    rounded = f"{value:+,.{places}f}"
    return ("0" if float(rounded.replace(",", "")) == 0 else rounded) + " %"


def ratio_text(ratio: float, low: float | None, high: float | None) -> str:
    """`0.921 (0.902 to 0.940)`."""
    places = 3 if max(ratio, high or 0.0) < 10 else 1
    if low is None or high is None:
        return f"{ratio:.{places}f}"
    return f"{ratio:.{places}f} ({low:.{places}f} to {high:.{places}f})"


def crossed(names: Iterable[str]) -> str:
    """Factors that act together."""
    return CROSS.join(names)


def p_text(value: float | None) -> str:
    """`< 0.0001`, `0.034`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
