# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How fast each part of memory grows in a long run. Pure; the growth itself is `analysis.growth`.

Growth is fitted from `SETTLED` of the time on: until then a server fills what it is going to keep.
"""

from collections.abc import Sequence

import numpy as np

from heapwright.analysis.growth import Growth, growth
from heapwright.artefacts.long_run.document import (
    Direction,
    LongRun,
    Sample,
    SeriesGrowth,
    SeriesName,
)

SETTLED = 0.25
HOUR_S = 3600.0
NAMES: tuple[SeriesName, ...] = ("resident", "live", "held")


def fitted(run: LongRun) -> LongRun:
    """The same, with the growth of each of its series."""
    if not run.samples:
        return run
    begin = run.samples[0].time_s + SETTLED * (run.samples[-1].time_s - run.samples[0].time_s)
    late = [each for each in run.samples if each.time_s >= begin]
    found = [_grown(name, late, run.confidence) for name in NAMES]
    growths = tuple(each for each in found if each is not None)
    return run.model_copy(update={"settled_s": begin, "growths": growths})


def _grown(name: SeriesName, samples: Sequence[Sample], confidence: float) -> SeriesGrowth | None:
    seen = [(each.time_s, value) for each in samples if (value := value_of(each, name)) is not None]
    times = np.array([at for at, _ in seen], dtype=np.float64) / HOUR_S
    values = np.array([value for _, value in seen], dtype=np.float64)
    found = growth(times, values, confidence)
    if found is None:
        return None
    return SeriesGrowth(
        series=name,
        bytes_per_hour=found.slope,
        low=found.low,
        high=found.high,
        level_bytes=found.level,
        rise_bytes=round(found.slope * (times[-1] - times[0])),
        points=found.points,
        inflation=found.inflation,
        direction=_direction(found),
    )


def _direction(found: Growth) -> Direction:
    if found.low > 0:
        return Direction.GROWS
    return Direction.SHRINKS if found.high < 0 else Direction.LEVEL


def value_of(sample: Sample, name: SeriesName) -> int | None:
    """Of one series."""
    values = {
        "resident": sample.resident_bytes,
        "live": sample.live_bytes,
        "held": sample.held_bytes,
    }
    return values[name]
