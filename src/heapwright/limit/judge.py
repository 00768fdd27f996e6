# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the figures of a command's processes with its budgets. Pure.

Each process has to keep each budget. The answer of a budget is that of the process with the largest
figure. A figure that is not known makes a budget unknown, unless a known figure exceeds it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from heapwright.artefacts.limit.document import (
    Budget,
    Judged,
    Kind,
    ProcessFigures,
    SiteAtFault,
    Unit,
    Verdict,
)
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.base.quantities import several
from heapwright.limit.functions import CUT, matcher

Lost = Mapping[int, tuple[int, int]]
"""Blocks and bytes to which no pointer leads, by the number of a stack."""
NOT_LOADED = "the library that counts was not loaded into the command"
NOT_SEARCHED = (
    "the memory of a process was not searched at its end; SIGKILL and crashes prevent the search"
)


def judged(budget: Budget, processes: Sequence[ProcessFigures], unknown: str = "") -> Judged:
    """The answer without sites, for each kind but `no-alloc-in`. `unknown` says why figures may be
    too small; empty: they are not."""
    figures = [(figure_of(budget, each), each.process) for each in processes]
    known = [(figure, process) for figure, process in figures if figure is not None]
    if not known:
        return Judged(budget=budget, verdict=Verdict.UNKNOWN, reason=unknown or _why(budget))
    figure, process = max(known, key=lambda each: (each[0], -each[1]))
    reason = ""
    verdict = Verdict.EXCEEDED if figure > budget.limit else Verdict.WITHIN
    if verdict is Verdict.WITHIN and (unknown or len(known) < len(figures)):
        verdict, reason = Verdict.UNKNOWN, unknown or _why(budget)
    return Judged(budget=budget, verdict=verdict, figure=figure, process=process, reason=reason)


def _why(budget: Budget) -> str:
    return NOT_SEARCHED if budget.kind is Kind.LEAKS else NOT_LOADED


def figure_of(budget: Budget, process: ProcessFigures) -> int | None:
    """What a budget bounds, in one process; None if it is not known."""
    match budget.kind:
        case Kind.ALLOCATIONS:
            return process.allocations
        case Kind.BYTES:
            return process.bytes
        case Kind.PEAK:
            return process.peak_bytes
        case Kind.LEAKS:
            is_bytes = budget.unit is Unit.BYTES
            return process.leaked_bytes if is_bytes else process.leaked_blocks
        case Kind.NO_ALLOC_IN:
            return None


def sites_at_fault(
    budget: Budget, profile: Profile, lost: Lost | None = None
) -> tuple[SiteAtFault, ...]:
    """The sites that make the figure of one process, the largest first. Chains with the same calls
    are one site."""
    matches = matcher(budget.function) if budget.function else None
    amounts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for site in profile.sites:
        if matches is None or any(map(matches, site.frames)):
            amounts[site.place, site.frames] += _amount(budget, site, lost or {})
    ordered = sorted(amounts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(
        SiteAtFault(place=place, frames=frames, amount=amount)
        for (place, frames), amount in ordered
        if amount
    )


def _amount(budget: Budget, site: Site, lost: Lost) -> int:
    match budget.kind:
        case Kind.BYTES:
            return site.bytes
        case Kind.PEAK:
            return site.at_peak_bytes
        case Kind.LEAKS:
            blocks, size = lost.get(site.stack, (0, 0))
            return size if budget.unit is Unit.BYTES else blocks
        case _:
            return site.allocations


def judged_function(budget: Budget, profiles: Mapping[int, Profile], unknown: str = "") -> Judged:
    """The answer for `no-alloc-in`, from the named profile of each process."""
    found = {process: sites_at_fault(budget, profile) for process, profile in profiles.items()}
    sums = {process: sum(site.amount for site in sites) for process, sites in found.items()}
    if not sums:
        return Judged(budget=budget, verdict=Verdict.UNKNOWN, reason=unknown or _why(budget))
    process = max(sums, key=lambda each: (sums[each], -each))
    figure, reason = sums[process], ""
    verdict = Verdict.EXCEEDED if figure > budget.limit else Verdict.WITHIN
    if verdict is Verdict.WITHIN and (why := unknown or _not_seen(profiles.values())):
        verdict, reason = Verdict.UNKNOWN, why
    sites = found[process] if verdict is Verdict.EXCEEDED else ()
    return Judged(
        budget=budget,
        verdict=verdict,
        figure=figure,
        process=process,
        reason=reason,
        sites=sites,
    )


def _not_seen(profiles: Iterable[Profile]) -> str:
    """Why an allocation in the function may be hidden; empty if none can be."""
    hidden = cut = 0
    for profile in profiles:
        listed = sum(site.allocations for site in profile.sites if site.frames)
        hidden += max(profile.totals.allocations - listed, 0)
        cut += sum(site.allocations for site in profile.sites if CUT in site.frames)
    if hidden:
        were = "has" if hidden == 1 else "have"
        return f"{several(hidden, 'allocation')} {were} no recorded stack"
    if cut:
        return f"the stacks of {several(cut, 'allocation')} are too deep to be complete"
    return ""
