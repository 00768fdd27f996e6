# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How far two profiles are apart, aspect by aspect: pure functions of two profiles.

Distances between distributions are total variation: the largest difference that the two give to the
probability of anything, 0 to 1.
"""

from collections import Counter
from collections.abc import Hashable, Mapping

import numpy as np

from heapwright.artefacts.fidelity.document import Aspect, Distance
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.profile.series import LifetimesOfSizes

POINTS = 1000
COMMON = 10


def distances(model: Profile, synthetic: Profile) -> tuple[Distance, ...]:
    """Every aspect, in the order in which they are reported."""
    return (
        _sizes(model, synthetic),
        _lifetimes(model, synthetic),
        _live_curve(model, synthetic),
        _hand_overs(model, synthetic),
        _routines(model, synthetic),
        _long_lived(model, synthetic),
    )


def total_variation(one: Mapping[Hashable, float], other: Mapping[Hashable, float]) -> float | None:
    """Of two distributions given by weights; null where one of them is empty."""
    totals = sum(one.values()), sum(other.values())
    if min(totals) <= 0:
        return None if max(totals) > 0 else 0.0
    keys = one.keys() | other.keys()
    apart = sum(abs(one.get(k, 0) / totals[0] - other.get(k, 0) / totals[1]) for k in keys)
    return min(apart / 2, 1.0)


def _sizes(model: Profile, synthetic: Profile) -> Distance:
    """The ten commonest sizes of the model one by one, all others by bands."""
    common = {each.size for each in model.sizes.top[:COMMON]}
    cells = [_size_cells(profile, common) for profile in (model, synthetic)]
    how = "total variation; the ten commonest sizes one by one, others in quarters of doublings"
    return _distance("sizes", total_variation(*cells), how)


def _size_cells(profile: Profile, common: set[int]) -> Counter[Hashable]:
    cells: Counter[Hashable] = Counter()
    for band in profile.lifetimes_by_size:
        cells[band.low, band.high] += band.count
    for each in profile.sizes.top:
        if each.size in common:
            cells[each.size] += each.count
            for band in profile.lifetimes_by_size:
                if band.low < each.size <= band.high or each.size == band.high == 0:
                    cells[band.low, band.high] -= each.count
    return Counter({key: max(count, 0) for key, count in cells.items()})


def _lifetimes(model: Profile, synthetic: Profile) -> Distance:
    """Within each band of sizes, by how many of the model's allocations are in it."""
    bands = [{(b.low, b.high): b for b in each.lifetimes_by_size} for each in (model, synthetic)]
    weight = sum(band.count for band in bands[0].values())
    total = 0.0
    for key, band in bands[0].items():
        other = bands[1].get(key)
        cells = [_lifetime_cells(of) for of in (band, other) if of is not None]
        apart = total_variation(cells[0], cells[1]) if len(cells) > 1 else 1.0
        total += band.count * (1.0 if apart is None else apart)
    how = "total variation of lifetimes in doublings of operations, mean over the sizes"
    return _distance("lifetimes", total / weight if weight else None, how)


def _lifetime_cells(band: LifetimesOfSizes) -> dict[Hashable, float]:
    return {**{each.high: each.count for each in band.operations}, "never": band.never_freed}


def _live_curve(model: Profile, synthetic: Profile) -> Distance:
    peak = max(model.peak_live_bytes, 1)
    shares = (np.arange(POINTS) + 0.5) / POINTS
    curves = [_curve(profile, shares) for profile in (model, synthetic)]
    stretch = max(synthetic.provenance.events, 1) / max(model.provenance.events, 1)
    how = "mean difference of live bytes along the operations, over the model's peak"
    if abs(stretch - 1) > 0.1:
        curves[1] = curves[1] * (peak / max(synthetic.peak_live_bytes, 1))
        how = "the same of each over its own peak, since the load has another length"
    return _distance("live curve", float(np.abs(curves[0] - curves[1]).mean() / peak), how)


def _curve(
    profile: Profile, shares: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    events = max(profile.provenance.events, 1)
    operations = [0.0, *(point.operation / events for point in profile.timeline)]
    return np.interp(shares, operations, [0.0, *(point.live_bytes for point in profile.timeline)])


def _hand_overs(model: Profile, synthetic: Profile) -> Distance:
    """Frees between threads; only their number, if the numbers of threads differ."""
    frees = [profile.cross_thread_frees for profile in (model, synthetic)]
    if len(model.threads) != len(synthetic.threads):
        how = "difference of the shares that change hands, since the load has other threads"
        return _distance("hand-overs", abs(frees[0].share - frees[1].share), how)
    cells = []
    for profile in (model, synthetic):
        crossing = profile.cross_thread_frees
        ended = crossing.count / crossing.share if crossing.share else 1.0
        pairs: Counter[Hashable] = Counter()
        for giver, taker, count in crossing.pairs:
            pairs[giver, taker] += count
        cells.append({**pairs, "rest": crossing.omitted, "own": max(ended - crossing.count, 0)})
    how = "total variation over pairs of threads, own frees being one of them"
    return _distance("hand-overs", total_variation(*cells), how)


def _routines(model: Profile, synthetic: Profile) -> Distance:
    cells: list[dict[Hashable, float]] = []
    for profile in (model, synthetic):
        mix = profile.routines
        families = ("malloc", "calloc", "realloc", "aligned")
        counts: dict[Hashable, float] = {name: getattr(mix, name).count for name in families}
        cells.append({**counts, "free of null": profile.totals.null_frees})
    how = "total variation over malloc, calloc, realloc, aligned and free of null"
    return _distance("routines", total_variation(*cells), how)


def _long_lived(model: Profile, synthetic: Profile) -> Distance:
    """Largest difference of the two cumulative curves, each over its own total."""
    how = "largest difference of the cumulative curves of long-lived allocations"
    if None in (model.pattern.kind, synthetic.pattern.kind):
        both = model.pattern.kind is synthetic.pattern.kind
        why = "" if both else "one of the two has no long-lived allocations"
        return Distance(aspect="long-lived", distance=0.0 if both else None, how=how, why=why)
    shares = (np.arange(POINTS) + 0.5) / POINTS
    curves = []
    for profile in (model, synthetic):
        events = max(profile.provenance.events, 1)
        steps = [(0, 0), *profile.pattern.long_lived]
        total = max(steps[-1][1], 1)
        places = [operation / events for operation, _ in steps]
        curves.append(np.interp(shares, places, [made / total for _, made in steps]))
    return _distance("long-lived", float(np.abs(curves[0] - curves[1]).max()), how)


def _distance(aspect: Aspect, value: float | None, how: str) -> Distance:
    return Distance(
        aspect=aspect,
        distance=value,
        how=how,
        why="" if value is not None else "one of the two has nothing of the kind",
    )
