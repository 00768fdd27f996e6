# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The largest holders of live memory and their growth, for `heapwright top --by-site`."""

from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.look.watch import rate
from heapwright.report.stacks.holders import holders
from heapwright.report.top import SiteLine

MOST = 12


class SiteLines:
    """The lines of the last reading."""

    def __init__(self) -> None:
        self._before: dict[str, int] = {}
        self._when: float | None = None
        self.lines: tuple[SiteLine, ...] = ()

    def take(self, found: StackProfile, when: float, scale: int = 1) -> None:
        """A new reading. `when` are seconds of the monotonic clock. Bytes are multiplied by
        `scale`."""
        passed = 0.0 if self._when is None else when - self._when
        live: dict[str, int] = {}
        lines: list[SiteLine] = []
        for each in holders(found, Amount.KEPT_BYTES):
            name = " ← ".join(each.own)
            size = each.bytes * scale
            live[name] = live.get(name, 0) + size
            if len(lines) < MOST:
                growth = rate(self._before.get(name, 0), size, passed)
                lines.append(SiteLine(each.own, size, each.bounds, growth))
        self._before, self._when, self.lines = live, when, tuple(lines)
