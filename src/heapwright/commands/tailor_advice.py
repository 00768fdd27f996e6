# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright tailor --advise`: what to change inside the program.

It needs a trace with call stacks. A command is recorded with them.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from heapwright.artefacts.profile.asked_moments import PEAK, AskedMoments
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.trace.file import trace_info
from heapwright.artefacts.trace.processes import processes_of
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.quantities import several, size
from heapwright.base.scratch import Scratch
from heapwright.commands.record import record_command
from heapwright.commands.tailor_answer import is_trace_input
from heapwright.commands.text import printing
from heapwright.profile.run import profile_trace
from heapwright.record.recorder import HowToRecord
from heapwright.report.console import make_console
from heapwright.tailor.advice import PLACE, Pool, Region, bare, pools, regions, sketch
from heapwright.tailor.deaths import lives_of

SHOWN = 5
"""Of each kind of advice."""
HOW = HowToRecord(stacks=True)


@dataclass(frozen=True, slots=True)
class Advice:
    """What a trace with stacks advises."""

    regions: tuple[Region, ...]
    pools: tuple[Pool, ...]
    pinned: tuple[tuple[str, int, int], ...]
    """The place of each site that pins pages at the peak, its pages, and their released bytes."""
    bytes: int
    """All that the program requested."""

    @property
    def share(self) -> float:
        """Of the requested bytes: those in the regions."""
        return sum(each.bytes for each in self.regions) / max(1, self.bytes)


def run_advice(words: tuple[str, ...], *, quiet: bool) -> ExitCode:
    """Record the command, or read the trace, and print the advice. Raises HeapwrightError."""
    if is_trace_input(words):
        advice = advice_of(Path(words[0]))
    else:
        with Scratch() as folder:
            trace = folder / "input.trace"
            outcome, notes = record_command(words, trace, HOW, stdout=Path(os.devnull))
            if outcome.asked_to_end:
                return ExitCode.INTERRUPTED
            if outcome.failed or outcome.exit_status or outcome.signal:
                raise HeapwrightError(
                    "nothing can be advised: the command failed while it was recorded",
                    "; ".join(notes),
                    exit_code=ExitCode.NOTHING_COMPARED,
                )
            advice = advice_of(trace)
    _print(advice, quiet=quiet)
    return ExitCode.OK


def advice_of(trace: Path) -> Advice:
    """The advice of the process with the most calls. Raises HeapwrightError."""
    info = trace_info(trace)
    if not info.stacks or info.sample_interval > 1:
        raise HeapwrightError(
            f"{trace} has no call stacks of all its calls, so it names no call sites",
            "heapwright record --stacks -o T -- ./program",
        )
    processes = processes_of(trace)
    if not processes:
        raise HeapwrightError(f"{trace} has no call of malloc: there is nothing to advise")
    busiest = processes[0].process
    profile = profile_trace(trace, busiest, asked=AskedMoments(pins=True), every_site=True)
    lives = lives_of(trace, busiest)
    sites = {site.stack: site for site in profile.sites}
    calls = sum(2 * each.allocations - each.never_freed for each in lives.sites.values())
    found = regions(lives, sites, calls)
    return Advice(
        regions=found,
        pools=tuple(pools(lives, sites, calls, found)),
        pinned=tuple(_pinned(profile)),
        bytes=sum(each.bytes for each in lives.sites.values()),
    )


def _pinned(profile: Profile) -> list[tuple[str, int, int]]:
    """Sites of profile that pin pages at the peak, those with most pages first."""
    names = [each.name for each in profile.moments]
    if PEAK not in names:
        return []
    place = names.index(PEAK)
    return [
        (PLACE.sub("", site.place), site.pins_at(place).pinned, site.pins_at(place).released)
        for site in profile.pinning_at(place)[:SHOWN]
    ]


@printing()
def _print(advice: Advice, *, quiet: bool) -> None:
    console = make_console(sys.stdout)

    def line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    line(sentence(advice), "bold")
    if quiet:
        return
    for text in details(advice):
        line(text)


def sentence(advice: Advice) -> str:
    """The whole advice in one sentence."""
    if not advice.regions:
        return "No objects die together: a region is not worth it"
    first = advice.regions[0]
    return (
        f"Make a region in {bare(first.function)}: {size(first.bytes)} of "
        f"{several(first.objects, 'object')} die with it ({first.bytes / max(1, advice.bytes):.0%} "
        "of the requested bytes)"
    )


def _callers(region: Region) -> str:
    return ", ".join(map(bare, region.callers[:SHOWN])) or "none"


def details(advice: Advice) -> Sequence[str]:
    """Each region with its sketch, the pools, and the sites that pin pages."""
    lines = []
    for each in advice.regions[:SHOWN]:
        early = f", {size(each.early_bytes)} of them freed earlier" if each.early_bytes else ""
        lines += [
            f"\nregion in {bare(each.function)}",
            f"  {size(each.bytes)} of {several(each.objects, 'object')} in "
            f"{several(each.regions, 'region')}{early}",
            f"  {each.call_share:.0%} of all calls of malloc and free become unnecessary",
            f"  or in a caller that lives until the frees: {_callers(each)}",
            f"  sites: {', '.join(dict.fromkeys(map(bare, each.sites[:SHOWN])))}",
            *(f"    {text}" for text in sketch(each).splitlines()),
        ]
        if 2 * each.early_bytes > each.bytes:
            lines.append("  most bytes are freed earlier, so take a reap, which reuses them")
    if advice.pools:
        lines.append("\npools: one size, freed and allocated again")
    lines += [
        f"  {bare(each.function)}: {several(each.objects, 'object')} of {size(each.size)}"
        for each in advice.pools[:SHOWN]
    ]
    if advice.pinned:
        lines.append("\nsites that pin pages at the peak (heapwright profile --pins)")
    lines += [
        f"  {bare(name)}: {size(released)} in {several(pages, 'page')}"
        for name, pages, released in advice.pinned
    ]
    return lines
