# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The moments that a user asks of a profile, by name.

A moment is `peak`, `end`, a time, or the name of a mark. A time is in seconds since the recording
began (`1.5`), or a part of the time from the first call to the last (`50%`). `NAME#2` is the second
mark of a name.
"""

import math
from dataclasses import dataclass

from heapwright.base.errors import HeapwrightError

PEAK = "peak"
END = "end"
MOST = 1000
"""Moments of one profile."""


@dataclass(frozen=True, slots=True)
class AskedMoments:
    """The moments that a user asks of a profile."""

    at: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    pins: bool = False

    def __bool__(self) -> bool:
        return bool(self.at or self.between or self.pins)

    @property
    def names(self) -> tuple[str, ...]:
        """Each once. Pages are counted at the peak and at the end if no moment is named."""
        named = (*self.at, *(self.between or ()))
        return tuple(dict.fromkeys(named or ((PEAK, END) if self.pins else ())))

    @property
    def words(self) -> list[str]:
        """As options of `heapwright-profile`."""
        if len(self.names) > MOST:
            raise HeapwrightError(f"a profile has at most {MOST:,} moments", "ask for fewer")
        options = [word for name in self.names for word in ("--at", name)]
        return [*options, "--pins"] if self.pins else options

    def refuse_impossible(self) -> None:
        """Refuse a name that no trace can have, before anything is recorded.

        Other names may be marks.
        """
        for name in self.names:
            number = _number(name.removesuffix("%").removesuffix("s"))
            if name.endswith("%") and number is not None and not 0 <= number <= 100:
                raise HeapwrightError(f"the moment {name} is not between 0% and 100%")
            if not name or (number is not None and not 0 <= number < math.inf):
                raise HeapwrightError(
                    f"there is no moment {name!r}",
                    "a moment is peak, end, a time of 0 s or more, a part as 50%, or a mark",
                )

    def growth(self) -> tuple[tuple[int, int], ...]:
        """The places of the two moments in `names`."""
        if self.between is None:
            return ()
        before, after = self.between
        return ((self.names.index(before), self.names.index(after)),)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


NO_MOMENTS = AskedMoments()
