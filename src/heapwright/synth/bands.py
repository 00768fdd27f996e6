# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of a synthetic load, in the bands in which a profile tells lifetimes.

Within a band the sizes that are among the program's commonest are as common as they were. The rest
are spread over as many sizes as there were, so far as that is known, with the mean that they had.
"""

import math

import numpy as np
from numpy.typing import NDArray

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.profile.series import LifetimesOfSizes
from heapwright.synth.plan import Band, Sizes


def bands(profile: Profile) -> tuple[Band, ...]:
    """One for each of `lifetimes_by_size`."""
    known = _known(profile)
    distinct = _distinct(profile, known)
    average = _average_handing(profile)
    return tuple(
        Band(tuple(_sizes(band, known, number)), _handing(band, average))
        for band, number in zip(profile.lifetimes_by_size, distinct, strict=True)
    )


def _distinct(profile: Profile, known: dict[int, int]) -> list[int]:
    """For each band, over how many sizes its rest is spread, so that as many are drawn as there
    were.

    Of d sizes, n draws meet about d(1 - exp(-n/d)).
    """
    wanted = max(0, profile.sizes.distinct - len(known))
    bands = profile.lifetimes_by_size
    rests = np.array([max(0, band.count - _common(band, known)) for band in bands], float)
    spans = np.array([max(1, band.high - band.low) for band in bands], float)

    def spread(density: float) -> NDArray[np.float64]:
        numbers: NDArray[np.float64] = np.maximum(np.minimum(spans, density * rests), 1.0)
        return numbers

    low, high = 1e-9, 1e9
    for _ in range(80):
        middle = math.sqrt(low * high)
        numbers = spread(middle)
        met = float((numbers * -np.expm1(-rests / numbers)).sum())
        low, high = (middle, high) if met < wanted else (low, middle)
    return [round(number) for number in spread(low)]


def _known(profile: Profile) -> dict[int, int]:
    """Sizes with a known number of requests."""
    sizes = profile.sizes
    if len(sizes.cumulative) < sizes.distinct:
        return {each.size: each.count for each in sizes.top}
    counts = {}
    before = 0.0
    for size, share in sizes.cumulative:
        counts[size] = round((share - before) * profile.totals.allocations)
        before = share
    return counts


def _inside(band: LifetimesOfSizes, size: int) -> bool:
    return band.low < size <= band.high or size == band.high == 0


def _common(band: LifetimesOfSizes, known: dict[int, int]) -> int:
    return sum(count for size, count in known.items() if _inside(band, size))


def _sizes(band: LifetimesOfSizes, known: dict[int, int], distinct: int) -> list[Sizes]:
    inside = {size: count for size, count in known.items() if count and _inside(band, size)}
    found = [Sizes(size, size, 1, count) for size, count in inside.items()]
    rest = band.count - sum(inside.values())
    if found and rest <= 0.001 * band.count:
        return found
    rest_bytes = band.bytes - sum(size * count for size, count in inside.items())
    return found + _spread(band, max(rest, 1), rest_bytes, distinct)


def _spread(band: LifetimesOfSizes, count: int, total: int, distinct: int) -> list[Sizes]:
    """About `distinct` sizes in two halves of the band, weighted so that their mean is right."""
    low = min(band.low + 1, band.high)
    span = band.high - low + 1
    mean = min(max(total / count, low), band.high)
    if distinct <= 1 or span <= 1:
        size = round(mean)
        return [Sizes(size, size, 1, count)]
    step = max(1, span // distinct)
    middle = low + span // 2
    halves = ((low, max(low, middle - 1)), (middle, band.high))
    means = [_mean(*half, step) for half in halves]
    apart = means[1] - means[0]
    upper = min(max((mean - means[0]) / apart, 0.0), 1.0) if apart > 0 else 0.5
    weights = (count * (1 - upper), count * upper)
    return [
        Sizes(half[0], half[1], step, weight)
        for half, weight in zip(halves, weights, strict=True)
        if weight > 0
    ]


def _mean(low: int, high: int, step: int) -> float:
    return low + step * ((high - low) // step) / 2


def _average_handing(profile: Profile) -> float:
    ended = sum(each.count - each.never_freed for each in profile.lifetimes_by_size)
    handed = sum(each.handed_over for each in profile.lifetimes_by_size)
    return handed / ended if ended else 0.0


def _handing(band: LifetimesOfSizes, average: float) -> float:
    ended = band.count - band.never_freed
    return band.handed_over / ended / average if ended and average else 0.0
