# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios in words: "8 % faster (6 to 10)", "3.1 times as slow (2.9 to 3.3)".

A percentage is a share of the baseline's figure: 8 % faster takes 8 % less time, 12 % more memory
peaks 12 % higher. A ratio below a half or above two is written as a multiple. An interval is
written in the direction of the estimate, the smaller change first. One that includes 1 has no
direction and is written with signs. The number of digits depends on the width of the interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heapwright.artefacts.comparison.document import Effect


@dataclass(frozen=True, slots=True)
class Span:
    """A ratio with its simultaneous interval; 0 and infinity where the runs give no bound."""

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, effect: Effect) -> "Span":
        low = effect.low if effect.low is not None else 0.0
        high = effect.high if effect.high is not None else math.inf
        return cls(effect.ratio, low, high)

    @property
    def bounded(self) -> bool:
        return self.low > 0 and math.isfinite(self.high)


def time_in_words(span: Span, margin: float) -> str:
    """Such as "8 % faster (6 to 10)" or, within the margin, "as fast (-1 to +1 %)"."""
    if within(span, margin):
        return f"as fast ({_signed_range(span)})"
    if not span.bounded or span.low < 1 < span.high:
        return f"time {_signed(span)}"
    if span.ratio <= 0.5:
        return _times(Span(1 / span.ratio, 1 / span.high, 1 / span.low), "as fast")
    if span.ratio >= 2:
        return _times(span, "as slow")
    return _percent(span, "faster", "slower")


def memory_in_words(span: Span, margin: float) -> str:
    """Such as "12 % less memory (10 to 14)"; within the margin "as much memory (-1 to +1 %)"."""
    if within(span, margin):
        return f"as much memory ({_signed_range(span)})"
    if not span.bounded or span.low < 1 < span.high:
        return f"memory {_signed(span)}"
    if span.ratio >= 2:
        return _times(span, "the memory")
    return _percent(span, "less memory", "more memory")


def change_in_words(span: Span, margin: float, less: str, more: str) -> str:
    """Of any figure, such as "12 % less (10 to 14)" or, within the margin, "the same (...)"."""
    if within(span, margin):
        return f"the same ({_signed_range(span)})"
    if not span.bounded or span.low < 1 < span.high:
        return _signed(span)
    if span.ratio >= 2:
        return _times(span, "as much")
    return _percent(span, less, more)


def within(span: Span, margin: float) -> bool:
    """Whether the whole interval lies within the margin of practical equivalence."""
    return 1 - margin <= span.low and span.high <= 1 + margin


def percent_text(fraction: float) -> str:
    """A given fraction such as a margin: "2 %", "0.5 %"."""
    return f"{100 * fraction:.6g} %"


def size_text(size: float) -> str:
    """Bytes for readers: "512 MiB", "3.4 GiB"."""
    if size < 1024:
        return f"{size:.0f} bytes"
    power = min(int(math.log(size, 1024)), 4)
    scaled = size / 1024**power
    digits = max(0, 2 - int(math.log10(scaled)))
    text = f"{scaled:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {'KMGT'[power - 1]}iB"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _percent(span: Span, less: str, more: str) -> str:
    """A change below a factor of two, with its interval in its own direction."""
    change, near, far = (100 * (ratio - 1) for ratio in (span.ratio, span.low, span.high))
    digits = _digits(far - near, change)
    ends = sorted((abs(near), abs(far)))
    interval = f" ({ends[0]:.{digits}f} to {ends[1]:.{digits}f})" if far > near else ""
    return f"{abs(change):.{digits}f} % {less if change < 0 else more}{interval}"


def _times(span: Span, what: str) -> str:
    digits = 2 if span.high - span.low < 0.1 else 1
    interval = f" ({span.low:.{digits}f} to {span.high:.{digits}f})" if span.high > span.low else ""
    return f"{span.ratio:.{digits}f} times {what}{interval}"


def _signed(span: Span) -> str:
    change = 100 * (span.ratio - 1)
    if not span.bounded:
        return f"{change:+.{_digits(10, change)}f} % (no interval)"
    digits = _digits(100 * (span.high - span.low), change)
    return f"{_sign(change, digits)} % ({_ends(span, digits)})"


def _signed_range(span: Span) -> str:
    digits = _digits(100 * (span.high - span.low), 100 * (span.ratio - 1))
    return f"{_ends(span, digits)} %" if span.high > span.low else f"{_sign(0, 0)} %"


def _ends(span: Span, digits: int) -> str:
    return f"{_sign(100 * (span.low - 1), digits)} to {_sign(100 * (span.high - 1), digits)}"


def _sign(change: float, digits: int) -> str:
    text = f"{change:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def _digits(width: float, change: float) -> int:
    """Decimals of a percentage whose interval is `width` wide: the interval keeps two digits."""
    if width == 0:
        return 0 if abs(change - round(change)) < 0.05 else 1
    if width >= 2:
        return 0
    return 1 if width >= 0.2 else 2
