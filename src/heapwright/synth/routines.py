# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which entry points a synthetic load calls, and how often.

The numbers are those of the trace format. The profile has no alignments; one cache line is used for
all.
"""

from heapwright.artefacts.profile.document import Profile
from heapwright.synth.plan import Choice

LINE = 64

NUMBERS = {
    "malloc": 0,
    "calloc": 1,
    "memalign": 4,
    "aligned_alloc": 5,
    "posix_memalign": 6,
    "valloc": 7,
    "pvalloc": 8,
    "new": 9,
    "new[]": 10,
    "new aligned": 11,
    "new[] aligned": 12,
}
REALLOC = 2
MEMALIGN = 4
ALIGNED = frozenset({4, 5, 6, 11, 12})


def choices(profile: Profile) -> tuple[Choice, ...]:
    """Every entry point that made new blocks, by how many; realloc of null among them."""
    detail = profile.routines.detail
    made = {
        NUMBERS[name]: calls.calls - calls.failed
        for name, calls in detail.items()
        if name in NUMBERS
    }
    made[REALLOC] = profile.routines.reallocs.of_null
    found = tuple(_choice(number, count) for number, count in sorted(made.items()) if count > 0)
    return found or families(profile)


def families(profile: Profile) -> tuple[Choice, ...]:
    """The four that published characterisations tell apart, by their shares."""
    routines = profile.routines
    shares = {
        NUMBERS["malloc"]: routines.malloc.share,
        NUMBERS["calloc"]: routines.calloc.share,
        REALLOC: routines.realloc.share,
        MEMALIGN: routines.aligned.share,
    }
    return tuple(_choice(number, share) for number, share in shares.items() if share > 0)


def moves(profile: Profile) -> float:
    """The share of the blocks that ended which a realloc ended, by moving or growing them."""
    reallocs = profile.routines.reallocs
    made = reallocs.grown_in_place + reallocs.moved
    ended = profile.totals.allocations - profile.totals.never_freed
    return min(made / ended, 1.0) if ended > 0 else 0.0


def null_frees(profile: Profile) -> float:
    """Frees of null for each allocation."""
    totals = profile.totals
    return totals.null_frees / totals.allocations if totals.allocations else 0.0


def _choice(number: int, weight: float) -> Choice:
    return Choice(number, LINE if number in ALIGNED else 0, weight)
