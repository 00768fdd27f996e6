# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile on a terminal: one paragraph an aspect, for any width."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.profile.asked_moments import PEAK
from heapwright.artefacts.profile.course import by_growth
from heapwright.artefacts.profile.document import Profile
from heapwright.base.quantities import several
from heapwright.report.columns import Columns, Entries
from heapwright.report.profile import words
from heapwright.report.profile.charts import ROUTINES
from heapwright.report.profile.figures import FIGURES
from heapwright.report.profile.missing_data import remarks
from heapwright.report.profile.moments import in_summary

BLOCKS = " ▁▂▃▄▅▆▇█"
CURVE = 36
TOP = 5
TOP_CALLS = 3
TOP_HOLDERS = 3
OVER_TIME = "over time"


def print_summary(console: Console, profile: Profile, *, quiet: bool = False) -> None:
    """Print the summary; `quiet` leaves one sentence."""
    if quiet:
        console.print(Text(sentence(profile)), soft_wrap=True)
        return
    drawn = console.encoding.startswith("utf")
    console.print(Entries([each for each in entries(profile) if drawn or each[0] != OVER_TIME]))
    if profile.spread:
        console.print()
        count = profile.repetitions
        console.print(Text(f"Over {count} repetitions (above: the first)", style="bold"))
        console.print(spread_table(profile))
    told = remarks(profile)
    if told:
        console.print()
        console.print(Entries([("Note", line) for line in told]))


def sentence(profile: Profile) -> str:
    """All of it in one line."""
    totals = profile.totals
    return (
        f"{several(totals.allocations, 'allocation')}, {words.memory(totals.bytes)} in all, "
        f"{words.memory(profile.peak_live_bytes)} live at most, "
        f"{words.memory(totals.never_freed_bytes)} never freed; "
        f"{words.share(profile.retention.short)} short-lived; {words.pattern_of(profile)}"
    )


def entries(profile: Profile) -> Iterator[tuple[str, str]]:
    """What is reported, aspect by aspect."""
    origin, totals, retention = profile.provenance, profile.totals, profile.retention
    yield (
        "Recorded",
        f"{several(origin.events, 'call')} over {words.duration(origin.duration_s)}: "
        f"{words.command_of(profile)}",
    )
    yield (
        "Total memory",
        f"{several(totals.allocations, 'allocation')}, {words.memory(totals.bytes)} in all, "
        f"{words.memory(totals.mean_bytes)} each in the mean",
    )
    yield "Sizes", _sizes(profile)
    shares = ((name, getattr(profile.routines, name).share) for name in ROUTINES)
    yield "Routines", ", ".join(f"{name} {words.share(share)}" for name, share in shares)
    yield (
        "Frees",
        f"{words.count(totals.frees)}, {words.share(totals.null_free_share)} of null; never freed: "
        f"{several(totals.never_freed, 'block')}, {words.memory(totals.never_freed_bytes)}",
    )
    if totals.temporary:
        yield (
            "Temporary",
            f"{several(totals.temporary, 'allocation')} "
            f"({words.share(totals.temporary / max(totals.allocations, 1))}) ended before their "
            "thread allocated again",
        )
    yield (
        "Retention",
        f"short (up to 100 ms) {words.share(retention.short)}, medium (up to 1 s) "
        f"{words.share(retention.medium)}, long {words.share(retention.long)}",
    )
    yield "Long-lived", f"{words.pattern_of(profile)}. The rule: {profile.pattern.rule}"
    yield "Live memory", _live(profile)
    if profile.timeline:
        yield OVER_TIME, curve(profile)
    yield "Threads", _threads(profile)
    if profile.system is not None and profile.system.a_over_u.peak is not None:
        ratio = profile.system.a_over_u
        yield (
            "A/U",
            f"{words.times(ratio.peak)} at the most, {words.times(ratio.at_end)} at the end "
            "(heap memory taken from the system, A, over live memory, U)",
        )
    if all(moment.name != PEAK for moment in profile.moments):
        for site in profile.holders[:TOP_HOLDERS]:
            yield (
                "At the peak",
                f"{words.memory(site.at_peak_bytes)} "
                f"({words.share(site.at_peak_bytes / max(profile.peak_live_bytes, 1))}) live in "
                f"{several(site.at_peak, 'block')}: {words.chain_of(site)}",
            )
    yield from in_summary(profile)
    for site in sorted(profile.sites, key=lambda each: -each.allocations)[:TOP_CALLS]:
        yield (
            "Most calls",
            f"{several(site.allocations, 'allocation')} "
            f"({words.share(site.allocations / max(totals.allocations, 1))}), "
            f"{words.memory(site.bytes)}: {words.chain_of(site)}",
        )
    for site in profile.temporary_sites[:TOP_CALLS]:
        yield (
            "Temporary",
            f"{several(site.temporary, 'allocation')} "
            f"({words.share(site.temporary / max(site.allocations, 1))} of the site's): "
            f"{words.chain_of(site)}",
        )
    for site, grows in by_growth(profile)[:TOP]:
        yield (
            "Never freed",
            f"{words.memory(site.never_freed_bytes)} in "
            f"{several(site.never_freed, 'block')}{', growing until the end' if grows else ''}: "
            f"{words.chain_of(site)}",
        )


def _sizes(profile: Profile) -> str:
    top = ", ".join(
        f"{each.size:,} B {words.share(each.share)}" for each in profile.sizes.top[:TOP]
    )
    return (
        f"{words.count(profile.sizes.distinct)} distinct; the ten commonest make "
        f"{words.share(profile.sizes.top10_share)}" + (f": {top}" if top else "")
    )


def _live(profile: Profile) -> str:
    peak = profile.peak
    told = (
        f"{words.memory(peak.live_bytes)} in "
        f"{several(peak.live_objects, 'object')} at the most, "
        f"{words.duration(_since_first_call(profile, peak.time_s))} after the first call"
    )
    if peak.usable_bytes is None or not peak.live_bytes:
        return told
    added = (peak.usable_bytes - peak.live_bytes) / peak.live_bytes
    return f"{told}; rounding up adds {words.share(added)}"


def _since_first_call(profile: Profile, time_s: float) -> float:
    """A time of the recording, which begins before the command has started."""
    last = profile.timeline[-1].time_s if profile.timeline else time_s
    return max(time_s - (last - profile.provenance.duration_s), 0.0)


def _threads(profile: Profile) -> str:
    crossed = profile.cross_thread_frees
    told = words.count(len(profile.threads))
    if not crossed.count:
        return f"{told}; every block was freed by the thread that allocated it"
    told += f"; {words.count(crossed.count)} blocks ({words.share(crossed.share)}) freed by another"
    if crossed.pairs:
        maker, ender, blocks = crossed.pairs[0]
        told += f", {words.count(blocks)} of them from thread {maker} to {ender}"
    return told


def curve(profile: Profile) -> str:
    """Live memory over time as one line of blocks; the tallest is the peak."""
    end = max(profile.timeline[-1].time_s, 1e-12)
    most = [0] * CURVE
    reached = 0
    for before, point in zip((None, *profile.timeline), profile.timeline, strict=False):
        at = min(int(CURVE * point.time_s / end), CURVE - 1)
        held = before.live_bytes if before else 0
        for place in range(reached, at):
            most[place] = max(most[place], held)
        most[at] = max(most[at], point.live_bytes, point.most_live_bytes)
        reached = at
    top = max(profile.peak_live_bytes, 1)
    scale = len(BLOCKS) - 1
    return "".join(BLOCKS[min(-(-value * scale // top), scale)] for value in most)


def spread_table(profile: Profile) -> Columns:
    """Mean and spread of every figure over the repetitions."""
    known = {each.figure: each for each in profile.spread}
    rows = [
        (
            f"{figure.aspect}, {figure.name}",
            *map(figure.text, (found.mean, found.sd, found.least, found.most)),
        )
        for figure in FIGURES
        if (found := known.get(figure.path)) is not None
    ]
    return Columns(("", "mean", "sd", "least", "most"), rows)
