# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a profile's charts show, as Vega-Lite: memory over time, sizes, lifetimes, routines.

Each takes profiles with their names, one or two; charts that only one profile can have take it
alone. Times and memory are drawn in the units that suit the largest figure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from heapwright.artefacts.profile.document import Profile
from heapwright.report.pages.parts import Spec
from heapwright.report.pages.vega import BLUE, GREEN, GREY, ORANGE, PINK, SKY, VERMILION
from heapwright.report.profile.curves import (
    Axis,
    Form,
    Named,
    Series,
    Value,
    bars,
    colours,
    columns,
    palette,
    points,
    steps,
)
from heapwright.report.profile.words import duration, memory, unit_for

FIVE = (BLUE, ORANGE, GREEN, VERMILION, PINK)
TIME = Axis("time (s)", "~f")
NEVER = "never"
MOST_MARKS = 100
RESIDENT = (
    ("live (U)", "live_bytes", BLUE),
    ("internal waste", "waste_bytes", SKY),
    ("held by the allocator", "held_bytes", ORANGE),
    ("other", "other_bytes", GREY),
)
ROUTINES = ("malloc", "calloc", "realloc", "aligned")


def live_memory(series: Series) -> Spec:
    """Live requested bytes; of one profile also what the allocator had rounded them up to."""
    size, unit = unit_for(max(each.profile.peak_live_bytes for each in series))
    axis, time = Axis(f"live ({unit})"), replace(TIME, marks=_marks(series))

    def live(profile: Profile) -> Iterator[Value]:
        for at in profile.timeline:
            yield {"x": at.time_s, "y": at.live_bytes / size}

    values = points(series, live)
    if len(series) > 1 or all(at.usable_bytes is None for at in series[0].profile.timeline):
        return steps(values, colours(series), time, axis, form=_form(series))
    parts = ("requested", "added by rounding up")
    values = [
        {"of": part, "at": place, "x": at.time_s, "y": value / size}
        for at in series[0].profile.timeline
        for place, (part, value) in enumerate(
            zip(parts, (at.live_bytes, _rounding(at.live_bytes, at.usable_bytes)), strict=True)
        )
    ]
    return steps(values, palette(parts, (BLUE, ORANGE)), time, axis, form="stacked")


def _marks(series: Series) -> tuple[tuple[float, str], ...]:
    """The marks of one profile, and its requested moments."""
    if len(series) > 1:
        return ()
    profile = series[0].profile
    named = {(mark.time_s, mark.name) for mark in profile.marks}
    named |= {(moment.time_s, moment.name.split("#")[0]) for moment in profile.moments}
    return tuple(sorted(named)[:MOST_MARKS])


def _rounding(live: int, usable: int | None) -> int:
    return 0 if usable is None else max(usable - live, 0)


def _form(series: Series) -> Form:
    return "filled" if len(series) == 1 else "line"


def live_objects(series: Series) -> Spec:
    def live(profile: Profile) -> Iterator[Value]:
        for at in profile.timeline:
            yield {"x": at.time_s, "y": at.live_objects}

    return steps(
        points(series, live), colours(series), TIME, Axis("live objects"), form=_form(series)
    )


def sizes_over_time(profile: Profile) -> Spec | None:
    """What was live of each of the five commonest sizes."""
    shown = profile.sizes.over_time
    if not shown:
        return None
    live = [[known * each.size for known in each.live if known is not None] for each in shown]
    size, unit = unit_for(max((most for each in live for most in each), default=0))
    names = [memory(each.size) for each in shown]
    values = [
        {"of": name, "x": at.time_s, "y": None if known is None else known * each.size / size}
        for name, each in zip(names, shown, strict=True)
        for at, known in zip(profile.timeline, each.live, strict=True)
    ]
    return steps(values, palette(names, FIVE), TIME, Axis(f"live ({unit})"))


def cumulative_sizes(series: Series) -> Spec:
    """The share of allocations that are no larger; sizes of 0 stand at 1."""

    def shares(profile: Profile) -> Iterator[Value]:
        for size, share in profile.sizes.cumulative:
            yield {"x": max(size, 1), "y": 100 * share}

    values = points(series, shares)
    for each in series:
        if each.profile.sizes.cumulative:  # a curve that begins at nothing, even if it is one step
            values.insert(0, {"of": each.name, "x": 1, "y": 0})
    values.sort(key=lambda value: (value["of"], value["x"], value["y"]))
    most = max((value["x"] for value in values), default=1)
    return steps(
        values,
        colours(series),
        Axis("size (bytes)", "~s", logarithmic=True, domain=(1, max(2 * most, 2))),
        Axis("allocations up to it (%)", "~f", domain=(0, 100)),
    )


def size_histogram(series: Series) -> Spec:
    """Shares of sizes by powers of two; of one profile, of its bytes too."""
    parts = (("allocations", BLUE), ("bytes", ORANGE))
    shown = {bucket.high for each in series for bucket in each.profile.sizes.histogram}

    def of_all(profile: Profile) -> Iterator[Value]:
        total = max(profile.totals.allocations, 1)
        for bucket in profile.sizes.histogram:
            yield {"x": _up_to(bucket.high), "y": 100 * bucket.count / total}

    values = points(series, of_all)
    colour = colours(series)
    if len(series) == 1:
        profile = series[0].profile
        total = max(profile.totals.bytes, 1)
        values = [value | {"of": "allocations"} for value in values]
        values += [
            {"of": "bytes", "x": _up_to(bucket.high), "y": 100 * bucket.bytes / total}
            for bucket in profile.sizes.histogram
        ]
        colour = palette(*zip(*parts, strict=True))
    order = [_up_to(high) for high in sorted(shown)]
    return columns(values, colour, ("size, up to", "share (%)"), order)


def _up_to(size: int) -> str:
    return memory(size)


def top_sizes(profile: Profile, most: int) -> Spec:
    """The commonest sizes: their shares of the allocations and of the bytes."""
    total = max(profile.totals.bytes, 1)
    shown = profile.sizes.top[:most]
    values = [
        {"of": name, "x": f"{each.size:,} B", "y": 100 * value}
        for each in shown
        for name, value in (("allocations", each.share), ("bytes", each.bytes / total))
    ]
    order = [f"{each.size:,} B" for each in shown]
    colour = palette(("allocations", "bytes"), (BLUE, ORANGE))
    return bars(values, colour, "share (%)", order, 2)


def lifetimes(series: Series) -> Spec:
    """How long blocks lived; what was never freed has a place of its own."""
    parts = (("allocations", BLUE), ("bytes", ORANGE))
    single = len(series) == 1

    def of_all(profile: Profile) -> Iterator[Value]:
        totals = profile.totals
        kinds = [("allocations", totals.allocations, totals.never_freed)]
        if single:
            kinds.append(("bytes", totals.bytes, totals.never_freed_bytes))
        for kind, total, never in kinds:
            named: Value = {"of": kind} if single else {}
            for bucket in profile.retention.distribution:
                part = bucket.count if kind == "allocations" else bucket.bytes
                value = 100 * part / max(total, 1)
                yield {"x": duration(bucket.high_s), "y": value, **named}
            yield {"x": NEVER, "y": 100 * never / max(total, 1), **named}

    ends = {bucket.high_s for each in series for bucket in each.profile.retention.distribution}
    order = [*(duration(end) for end in sorted(ends)), NEVER]
    colour = palette(*zip(*parts, strict=True)) if single else colours(series)
    return columns(points(series, of_all), colour, ("freed within", "share (%)"), order)


def routines(series: Series) -> Spec:
    """Which routines made the allocations."""

    def shares(profile: Profile) -> Iterator[Value]:
        for name in ROUTINES:
            yield {"x": name, "y": 100 * getattr(profile.routines, name).share}

    title = "share of the allocations (%)"
    return bars(points(series, shares), colours(series), title, ROUTINES, len(series))


def long_lived(series: Series) -> Spec:
    """Long-lived allocations made up to each operation."""

    def made(profile: Profile) -> Iterator[Value]:
        for operation, total in profile.pattern.long_lived:
            yield {"x": operation, "y": total}

    return steps(
        points(series, made),
        colours(series),
        Axis("operation"),
        Axis("long-lived so far"),
        form=_form(series),
    )


def system(profile: Profile) -> Spec | None:
    """Where resident memory goes, one part upon another."""
    if profile.system is None or not profile.system.samples:
        return None
    samples = profile.system.samples
    parts = [
        (name, shade, [getattr(each, field) for each in samples])
        for name, field, shade in RESIDENT
        if any(getattr(each, field) is not None for each in samples)
    ]
    size, unit = unit_for(
        max(sum(filter(None, at)) for at in zip(*(p[2] for p in parts), strict=True))
    )
    values = [
        {"of": name, "x": each.time_s, "y": (value or 0) / size, "at": place}
        for place, (name, _, series) in enumerate(parts)
        for each, value in zip(samples, series, strict=True)
    ]
    colour = palette([name for name, _, _ in parts], [shade for _, shade, _ in parts])
    return steps(values, colour, TIME, Axis(f"memory ({unit})"), form="stacked")


def taken_over_live(series: Series) -> Spec | None:
    """A/U over time."""

    def ratios(profile: Profile) -> Iterator[Value]:
        for each in profile.system.samples if profile.system else ():
            taken = each.heap_mapped_bytes
            known = taken is not None and each.live_bytes > 0
            yield {"x": each.time_s, "y": taken / each.live_bytes if known and taken else None}

    values = points(series, ratios)
    if not any(value["y"] is not None for value in values):
        return None
    return steps(values, colours(series), TIME, Axis("A/U", "~f"))


def alone(profile: Profile) -> Series:
    """One profile, as what most charts take."""
    return (Named("", profile),)


def thinned(length: int, most: int) -> Sequence[int]:
    """Places evenly spread over a series, its last one among them."""
    if length <= most:
        return range(length)
    return sorted({round(at * (length - 1) / (most - 1)) for at in range(most)})
