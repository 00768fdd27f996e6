# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The default model: real lifetimes by size, phases as the program had them, blocks that change
hands.

A load of another length than the program's is stretched. Its phases take as much longer, and blocks
live longer by a power of their lifetime. A block that lived as long as the run still does. A block
that lived for one operation still lives for one. Memory grows accordingly.
"""

import math

import numpy as np
from numpy.typing import NDArray

from heapwright.artefacts.profile.document import Profile
from heapwright.synth import routines
from heapwright.synth.bands import bands
from heapwright.synth.fit import fit
from heapwright.synth.observed import Observed, observe
from heapwright.synth.plan import Lifetime, LifetimeKind, Plan, Stretch
from heapwright.synth.threads import workers
from heapwright.synth.whole_numbers import Counts, deal


def plan(profile: Profile, *, factor: float, threads: int | None, seed: int) -> Plan:
    """A load `factor` times as long as the program was."""
    seen = observe(profile)
    counts = deal(fit(seen) * factor, seen, seed)
    ends = np.maximum(np.rint(seen.ends * factor), np.arange(1, len(seen.ends) + 1)).astype(int)
    return Plan(
        seed=seed,
        null_frees=routines.null_frees(profile),
        moves=routines.moves(profile),
        routines=routines.choices(profile),
        bands=bands(profile),
        lifetimes=_lifetimes(seen, factor),
        threads=workers(profile, threads, int(ends[-1])),
        phases=_phases(seen, counts, ends, factor),
    )


def _lifetimes(seen: Observed, factor: float) -> tuple[Lifetime, ...]:
    power = 1 + math.log(factor) / math.log(max(seen.operations, 2.0))
    finite = [
        Lifetime(LifetimeKind.OPERATIONS, low, max(low, high))
        for low, high in (
            (max(1, round(low**power)), round(high**power))
            for low, high in zip(seen.low[:-1], seen.high[:-1], strict=True)
        )
    ]
    return (*finite, Lifetime(LifetimeKind.NEVER))


def _phases(
    seen: Observed, counts: Counts, ends: NDArray[np.int64], factor: float
) -> tuple[Stretch, ...]:
    begins = np.concatenate(([0], ends[:-1]))
    lasts = np.diff(seen.times, prepend=0.0) * factor
    return tuple(
        Stretch(
            operations=int(ends[at] - begins[at]),
            nanoseconds=max(float(lasts[at]), 0.0) * 1e9,
            cells=tuple(
                (int(seen.band[column]), int(seen.lifetime[column]), int(counts[at, column]))
                for column in np.flatnonzero(counts[at])
            ),
            handing=float(seen.handing[at]),
        )
        for at in range(len(ends))
    )
