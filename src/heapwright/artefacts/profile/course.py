# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The course of a run: where its teardown begins, and what still grew in its later part. Pure.

A curve *grows* if both of its envelopes rise. One is the largest value so far (a sawtooth reaches
no new height). The other is the smallest value from here to the end (a rise that falls again does
not count). They must rise in three of the four equal segments of the later half. They must rise by
more than half of what the curve falls there, so that noise is no growth. A few large steps, each by
a fifth or more, are growth as well: a table that doubles. A few rises shortly after each other are
one step, because the tables of several threads double one after the other. While such a table is
copied, both copies are live: a short spike is neither a step nor the beginning of a teardown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.profile.series import Point

SEGMENTS = 4
FEWEST = 6
"""Values of the later half, without which nothing is said of it."""
MOST_STEPS = 16
LEAST_STEP = 0.2
STEP_PART = 20
"""A step lasts for one in this number of values at most."""
MOST_RISES = 8
"""In one step."""
SITE_MOMENTS = 44
"""The fewest moments at which a site is judged, if they are known."""
SHORT_PART = 100
"""A spike lasts for less than one in this number of values."""
TEARDOWN_ALLOCATES = 0.2
TEARDOWN_RESTS = 0.05


@dataclass(frozen=True, slots=True)
class Growth:
    """What a curve gains in its later half, or loses where it is negative."""

    bytes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Bytes in a second."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Curve:
    """Values at ascending times."""

    times: tuple[float, ...]
    values: tuple[int, ...]

    def until(self, end: float) -> "Curve":
        count = sum(time <= end for time in self.times)
        return Curve(self.times[:count], self.values[:count])

    def kept_to(self, end: float) -> "Curve":
        """The curve to `end`. It keeps its last value after its last time."""
        own = self.until(end)
        if not own.times or own.times[-1] >= end:
            return own
        return Curve((*own.times, end), (*own.values, own.values[-1]))


def growth(curve: Curve) -> Growth | None:
    """What it gains in its later half, if it grows there until its end."""
    times, values = curve.times, curve.values
    if len(times) < 2 or times[-1] <= 0:
        return None
    middle = _first(times, times[-1] / 2)
    seconds = times[-1] - times[middle]
    if len(values) - middle >= FEWEST:
        gained = _gained(times, values, middle)
        if gained:
            return Growth(gained, seconds)
    if _steps(_lasting(values), middle):
        return Growth(values[-1] - values[max(middle - 1, 0)], seconds)
    return None


def decline(curve: Curve) -> int:
    """The bytes that it loses in its later half, if it falls there until its end; otherwise 0. How
    it rose before that does not matter."""
    times, values = curve.times, curve.values
    if len(times) < 2 or times[-1] <= 0:
        return 0
    middle = _first(times, times[-1] / 2)
    late = (*[values[middle]] * middle, *values[middle:])
    most = max(late)
    found = growth(Curve(times, tuple(most - each for each in late)))
    return found.bytes if found else 0


def _first(times: Sequence[float], wanted: float) -> int:
    return next(at for at, time in enumerate(times) if time >= wanted)


def _gained(times: Sequence[float], values: Sequence[int], middle: int) -> int:
    """In the later half, by both envelopes; 0 if it does not grow."""
    highest = list(accumulate(values, max))
    lowest = list(accumulate(reversed(values), min))[::-1]
    begin, end = times[middle], times[-1]
    marks = [
        max(_first(times, begin + (end - begin) * part / SEGMENTS), middle)
        for part in range(SEGMENTS)
    ]
    gains = [
        min(highest[b] - highest[a], lowest[b] - lowest[a])
        for a, b in pairwise([*marks, len(values) - 1])
    ]
    falls = max(high - value for high, value in zip(highest[middle:], values[middle:], strict=True))
    gained = sum(gains)
    grows = sum(each > 0 for each in gains) >= SEGMENTS - 1 and 2 * gained >= falls
    return gained if grows else 0


def _lasting(values: Sequence[int]) -> list[int]:
    """What the curve keeps for a hundredth of its values, and for two of them at least: without
    its spikes. A top that lasts keeps its end."""
    width = max(2, len(values) // SHORT_PART)
    lows = [min(values[max(at, 0) : at + width]) for at in range(1 - width, len(values))]
    return [max(lows[at : at + width]) for at in range(len(values))]


def _steps(values: Sequence[int], middle: int) -> bool:
    """Whether it is a staircase of few large steps. The last is in the later half, and another one
    is in the second quarter or later.
    """
    if any(b < a for a, b in pairwise(values)):
        return False
    steps: list[list[int]] = []
    for at in range(1, len(values)):
        if values[at] > values[at - 1]:
            if steps and at - steps[-1][0] <= len(values) // STEP_PART:
                steps[-1].append(at)
            else:
                steps.append([at])
    if not 2 <= len(steps) <= MOST_STEPS or steps[-1][-1] < middle or steps[-2][-1] < middle // 2:
        return False
    return all(
        len(step) <= MOST_RISES and values[step[-1]] >= (1 + LEAST_STEP) * values[step[0] - 1] > 0
        for step in steps[-2:]
    )


def live_curve(profile: Profile) -> Curve:
    """Live bytes over time."""
    return Curve(
        tuple(point.time_s for point in profile.timeline),
        tuple(point.live_bytes for point in profile.timeline),
    )


def site_curve(profile: Profile, site: Site) -> Curve:
    """Live bytes of a site over time; empty if they are not known. Of many moments every second,
    third, and so on is taken, and at least 44 remain."""
    times, values = profile.site_times_s, site.live_over_time
    if not values:
        return Curve((), ())
    step = max(1, (len(times) - 1) // SITE_MOMENTS)
    kept = [*range(step - 1, len(times), step)]
    if kept[-1] != len(times) - 1:
        kept.append(len(times) - 1)
    return Curve(tuple(times[at] for at in kept), tuple(values[at] for at in kept))


def end_of_course(profile: Profile, end: float | None = None) -> float:
    """Where the teardown of the run begins; where there is none, its end.

    A teardown is a fall at the end in which the program frees, and allocates at most a fifth of
    what it frees. It begins in the later half of the run, and the run does not go on after it.
    `end` is when the program had come to its end, if that is known: later calls are teardown.
    """
    points = [point for point in profile.timeline if end is None or point.time_s <= end]
    if not points:
        return end or 0.0
    last = points[-1]
    live = _lasting([point.live_bytes for point in points])
    over = max(last.time_s, end or 0.0)
    found, most, allocated = len(points) - 1, last.live_bytes, 0
    for at in range(len(points) - 2, -1, -1):
        allocated += points[at + 1].allocated_bytes
        point = points[at]
        freed = allocated - last.live_bytes + live[at]
        falls = live[at] > most and allocated <= TEARDOWN_ALLOCATES * freed
        if point.time_s < over / 2:
            if falls and found != len(points) - 1:
                return over  # the fall began in the first half: a part of the course
            break
        if falls:
            found, most = at, live[at]
    return points[found].time_s if _ends_the_run(points, found, over) else over


def _ends_the_run(points: Sequence[Point], found: int, over: float) -> bool:
    top, last = points[found], points[-1]
    nearly = last.live_bytes + (top.live_bytes - last.live_bytes) / 10
    down = next(each.time_s for each in points[found:] if each.live_bytes <= nearly or each is last)
    return over - down <= max(2 * (down - top.time_s), TEARDOWN_RESTS * over)


def in_calls(profile: Profile) -> dict[float, float]:
    """For each time of the sites' moments and of the timeline: the calls until then."""
    marks = [(0.0, 0), *((point.time_s, point.operation) for point in profile.timeline)]
    mapped: dict[float, float] = {}
    at = 0
    for time in sorted({*profile.site_times_s, *(point.time_s for point in profile.timeline)}):
        while at + 1 < len(marks) and marks[at + 1][0] <= time:
            at += 1
        mapped[time] = float(marks[at][1])
    return mapped


def without_rests(profile: Profile, end: float) -> tuple[dict[float, float], float]:
    """Two values for each time of the sites' moments and of the timeline. The first is the time
    less the stretches without any call before it. The second is the share of the time to `end` in
    which there were calls.
    """
    marks: list[tuple[float, float]] = [(0.0, 0.0)]
    for before, point in pairwise(profile.timeline):
        active = point.time_s - before.time_s if point.operation > before.operation else 0.0
        marks.append((point.time_s, marks[-1][1] + active))
    mapped: dict[float, float] = {}
    at = 0
    for time in sorted({*profile.site_times_s, *(point.time_s for point in profile.timeline)}):
        while at + 1 < len(marks) and marks[at + 1][0] <= time:
            at += 1
        mapped[time] = marks[at][1]
    worked = max((own for time, own in mapped.items() if time <= end), default=0.0)
    return mapped, worked / end if end else 0.0


def growing_sites(
    profile: Profile, end: float, *, rests: bool = False
) -> dict[tuple[int, int], Growth]:
    """The sites whose live bytes grow until `end`, by process and stack.

    Where other sites shrink by half as much or more, memory only changes hands: then there is none.
    `rests`: the time after the last call of a site belongs to its course.
    """
    found: dict[tuple[int, int], Growth] = {}
    lost = 0
    for site in profile.sites:
        whole = site_curve(profile, site)
        curve = whole.kept_to(end) if rests else whole.until(end)
        grown = growth(curve)
        if grown:
            found[site.process, site.stack] = grown
        else:
            lost += decline(curve)
    return found if 2 * lost < sum(each.bytes for each in found.values()) else {}


def by_growth(profile: Profile) -> list[tuple[Site, bool]]:
    """The sites of memory that was never freed, and whether each grows until the end of the run.

    First come those that grow, by their growth and by the share of their blocks that was never
    freed. Then come the others by bytes.
    """
    grown = growing_sites(profile, end_of_course(profile))

    def weight(site: Site) -> float:
        own = grown.get((site.process, site.stack))
        return own.bytes * site.never_freed / max(site.allocations, 1) if own else 0.0

    found = [(site, weight(site)) for site in profile.sites if site.never_freed]
    found.sort(
        key=lambda each: (-each[1], -each[0].never_freed_bytes, each[0].process, each[0].stack)
    )
    return [(site, own > 0) for site, own in found]
