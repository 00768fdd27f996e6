# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The published recipe (Costa 2014, sections 4.7.2 and 5.2): `--model costa`.

The ten commonest sizes have their shares, the rest is spread evenly over the remaining sizes; the
routine mix is the program's. Short-lived objects (here: all but the long-lived) are freed at once,
long-lived ones when all allocations are over. In the pattern *peak* the long-lived are made by the
first operations, in *growing* evenly throughout. Threads share the work equally; each frees what it
allocated. The recipe leaves two points open. A program may have more distinct sizes than a profile
names. Then the sizes of the profile, in equal parts, take the place of the others. The recipe does
not say when the calls happen. Here they are spread evenly over time.
"""

from heapwright.artefacts.profile.document import Profile
from heapwright.synth import routines
from heapwright.synth.plan import Band, Lifetime, LifetimeKind, Plan, Sizes, Stretch, Worker

Cell = tuple[int, int, int]

COMMON = 10
AT_ONCE, AT_END = 0, 1
PER_SHORT = 2  # operations: the allocation and its free


def plan(profile: Profile, *, factor: float, threads: int | None, seed: int) -> Plan:
    """A load `factor` times as long as the program was."""
    allocations = max(1, round(profile.totals.allocations * factor))
    long = round(allocations * profile.retention.long)
    phases = _phases(profile, allocations - long, long, profile.provenance.duration_s * factor)
    operations = sum(phase.operations for phase in phases)
    count = threads or max(1, len(profile.threads))
    return Plan(
        seed=seed,
        null_frees=routines.null_frees(profile),
        moves=0.0,
        routines=routines.families(profile),
        bands=(_band(profile),),
        lifetimes=(Lifetime(LifetimeKind.OPERATIONS, 1, 1), Lifetime(LifetimeKind.END)),
        threads=(Worker(1.0, 0, operations + 1),) * count,
        phases=tuple(phases),
    )


def _band(profile: Profile) -> Band:
    common = profile.sizes.top[:COMMON]
    taken = {each.size for each in common}
    told = {each.size for each in profile.sizes.top} | {s for s, _ in profile.sizes.cumulative}
    rest = sorted(told - taken)
    left = max(0.0, 1 - sum(each.share for each in common))
    sizes = [Sizes(each.size, each.size, 1, each.share) for each in common]
    if left > 0 and rest:
        sizes += [Sizes(size, size, 1, left / len(rest)) for size in rest]
    return Band(tuple(sizes))


def _phases(profile: Profile, short: int, long: int, seconds: float) -> list[Stretch]:
    operations = PER_SHORT * short + long
    pace = seconds * 1e9 / max(operations, 1)
    early: list[Cell] = [(0, AT_END, long)] if long else []
    late: list[Cell] = [(0, AT_ONCE, short)] if short else []
    parts = [early, late] if profile.pattern.kind == "peak" else [early + late]
    return [_stretch(tuple(part), pace) for part in parts if part]


def _stretch(cells: tuple[Cell, ...], pace: float) -> Stretch:
    operations = sum(
        count * (PER_SHORT if lifetime == AT_ONCE else 1) for _, lifetime, count in cells
    )
    return Stretch(operations, operations * pace, cells)
