# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Blowup: does memory grow with time, with the number of threads, or with neither?

The program needs the same memory all the time, so all growth is that of the allocator.

*Against time*: one thread allocates, another frees. The figure is the slope of resident memory over
the second half of the run, when every cache and threshold is full. Its unit is bytes taken for each
byte allocated. The slope is by Theil and Sen. It is the median of the slopes of all pairs, so a
sawtooth or a few outliers do not move it. It is near 1 if freed memory is never reused, and near 0
if it is. Growth counts as unbounded only if it continues. If the last quarter adds less than half
of what the quarter before it added, it is levelling off, and there is no judgement.

*Against threads*: the work goes round P threads. The figure is the least-squares slope of peak
memory over P, in units of the program's need. A heap that keeps its own memory costs about 1 for
each thread. A few superblocks or a cache of fixed size cost almost nothing, because the need is
much larger. Only P up to `decisive` count. Allocators with a limited number of heaps level off
after that, which is reported as `saturates_at`.

Intervals are Student's over the repetitions. A single repetition has the interval of its own
points. They are dependent, which makes it too narrow, so it is doubled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.numerics.distributions import student_quantile
from heapwright.analysis.numerics.ranks import theil_sen
from heapwright.analysis.taxonomy.estimates import mean_of
from heapwright.analysis.taxonomy.limits import CRITERIA, exceeds
from heapwright.artefacts.taxonomy.document import Blowup, Curve, Estimate

Floats = NDArray[np.float64]

FEWEST_POINTS = 8
"""Points in the second half of a run below which no slope is read from it."""
MOST_PAIRED = 400
"""Points that are paired; of longer series every k-th is taken."""
STILL = 0.5
"""What share of the third quarter's growth the last quarter must have to be going on."""
NO_CURVE = Curve()
FLAT = 0.25
"""Share of the rise per thread below which memory counts as no longer rising."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Memory against time in one run: bytes allocated so far, bytes resident; shape (n,) each."""

    allocated: Floats
    resident: Floats


@dataclass(frozen=True, slots=True)
class Peak:
    """Peak memory of one run with a number of threads, and the program's need, in bytes."""

    block: int
    threads: int
    resident: float
    needed: float


@dataclass(frozen=True, slots=True)
class OverTime:
    """`grows` is None if the figures do not decide; `why` then names what is missing."""

    grows: bool | None
    slope: Estimate | None
    curve: Curve = NO_CURVE
    why: str = ""


@dataclass(frozen=True, slots=True)
class OverThreads:
    grows: bool | None
    slope: Estimate | None
    saturates_at: int | None = None
    curve: Curve = NO_CURVE
    why: str = ""


def over_time(repetitions: Sequence[Series], limit: float = CRITERIA.unbounded) -> OverTime:
    """Judge memory against time; each repetition is one run."""
    halves = [half for half in map(_second_half, repetitions) if half is not None]
    if not halves:
        return OverTime(None, None, why="no run has a series of its memory that is long enough")
    fits = [_robust_slope(half) for half in halves]
    slope = mean_of([fit[0] for fit in fits])
    if len(fits) == 1:
        value, low, high = fits[0]
        slope = Estimate(
            value=value, low=value - 2 * (value - low), high=value + 2 * (high - value)
        )
    assert slope is not None
    curve = _time_curve(repetitions[0], slope.value)
    grows = exceeds(slope, limit)
    if grows and not _goes_on(halves):
        return OverTime(
            None, slope, curve, "it grows, but more and more slowly: a longer run would decide"
        )
    why = "" if grows is not None else "more repetitions would tell whether it grows with time (-n)"
    return OverTime(grows, slope, curve, why)


def over_threads(
    peaks: Sequence[Peak], decisive: int = 8, limit: float = CRITERIA.linear
) -> OverThreads:
    """Judge memory against threads; each block of `peaks` is one repetition."""
    counts = sorted({peak.threads for peak in peaks if peak.threads <= decisive})
    if len(counts) < 3:
        return OverThreads(None, None, why="memory is not known for three numbers of threads")
    blocks = {peak.block: {} for peak in peaks}  # type: dict[int, dict[int, float]]
    for peak in peaks:
        blocks[peak.block][peak.threads] = peak.resident / peak.needed
    whole = [block for block in blocks.values() if all(count in block for count in counts)]
    if not whole:
        return OverThreads(None, None, why="no repetition has all numbers of threads")
    x = np.array(counts, dtype=float)
    lines = [_line(x, np.array([block[c] for c in counts])) for block in whole]
    slope = mean_of([line.slope for line in lines])
    if len(lines) == 1:
        half = 2 * student_quantile(0.975, len(x) - 2) * lines[0].error
        value = lines[0].slope
        slope = Estimate(value=value, low=value - half, high=value + half)
    assert slope is not None
    means = _means(whole)
    intercept = float(np.mean([line.intercept for line in lines]))
    ends = tuple((float(end), intercept + slope.value * float(end)) for end in (x[0], x[-1]))
    curve = Curve(x=tuple(map(float, means)), y=tuple(means.values()), fitted=ends)
    grows = exceeds(slope, limit)
    saturates = _saturation(means, slope.value) if grows else None
    why = (
        ""
        if grows is not None
        else "more repetitions would tell whether it grows with threads (-n)"
    )
    return OverThreads(grows, slope, saturates, curve, why)


def classify(time: OverTime, threads: OverThreads) -> tuple[Blowup | None, str]:
    """Both results, with reasons for missing ones."""
    if time.grows:
        return "unbounded", ""
    if time.grows is None:
        return None, time.why
    if threads.grows is None:
        return None, threads.why
    return ("linear" if threads.grows else "none"), ""


@dataclass(frozen=True, slots=True)
class _Line:
    """Of least squares; `error` is the standard error of the slope."""

    slope: float
    intercept: float
    error: float


def _line(x: Floats, y: Floats) -> _Line:
    centred = x - x.mean()
    square = float(centred @ centred)
    slope = float(centred @ y) / square
    intercept = float(y.mean() - slope * x.mean())
    rest = y - intercept - slope * x
    return _Line(slope, intercept, float(np.sqrt(rest @ rest / (len(x) - 2) / square)))


def _second_half(series: Series) -> Series | None:
    late = series.allocated >= (series.allocated[:1].sum() + series.allocated[-1:].sum()) / 2
    x, y = series.allocated[late], series.resident[late]
    if len(x) < FEWEST_POINTS or x[-1] <= x[0]:
        return None
    step = -(-len(x) // MOST_PAIRED)
    return Series(x[::step], y[::step])


def _robust_slope(series: Series) -> tuple[float, float, float]:
    """Theil and Sen's slope and its interval."""
    fit = theil_sen(series.resident, series.allocated)
    return fit.middle, fit.low, fit.high


def _goes_on(halves: Sequence[Series]) -> bool:
    """Whether the last quarters grow at least half as much as the third ones, on the whole."""
    third = fourth = 0.0
    for half in halves:
        middle = len(half.allocated) // 2
        third += _growth(half.allocated[:middle], half.resident[:middle])
        fourth += _growth(half.allocated[middle:], half.resident[middle:])
    return fourth >= STILL * third


def _growth(x: Floats, y: Floats) -> float:
    return theil_sen(y, x).middle


def _time_curve(series: Series, slope: float) -> Curve:
    """The first repetition's points, and the line with the mean slope through its second half."""
    half = _second_half(series)
    step = -(-len(series.allocated) // MOST_PAIRED)
    x, y = series.allocated[::step], series.resident[::step]
    fitted: tuple[tuple[float, float], ...] = ()
    if half is not None:
        middle = float(np.median(half.resident - slope * half.allocated))
        ends = (float(half.allocated[0]), float(half.allocated[-1]))
        fitted = tuple((end, middle + slope * end) for end in ends)
    return Curve(x=tuple(map(float, x)), y=tuple(map(float, y)), fitted=fitted)


def _means(blocks: Sequence[dict[int, float]]) -> dict[int, float]:
    """By number of threads, the mean over the blocks that have it."""
    counts = sorted({count for block in blocks for count in block})
    return {
        count: float(np.mean([block[count] for block in blocks if count in block]))
        for count in counts
    }


def _saturation(means: dict[int, float], slope: float) -> int | None:
    """The first number of threads after which every step rises by less than `FLAT` of the slope."""
    counts = list(means)
    first = None
    for before, after in zip(reversed(counts[:-1]), reversed(counts[1:]), strict=True):
        if (means[after] - means[before]) / (after - before) >= FLAT * slope:
            break
        first = before
    return first
