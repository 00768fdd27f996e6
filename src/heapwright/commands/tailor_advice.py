# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright tailor --advise`: what to change inside the program.

It needs a trace with call stacks. A command is recorded with them.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich.text import Text

from heapwright import __version__
from heapwright.artefacts.profile.asked_moments import PEAK, AskedMoments
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.tailoring.advice import Advice, Pin, Region
from heapwright.artefacts.trace.file import trace_info
from heapwright.artefacts.trace.processes import processes_of
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import trace_in
from heapwright.base.quantities import several, size
from heapwright.base.scratch import Scratch
from heapwright.commands.output import Outputs
from heapwright.commands.record import record_command
from heapwright.commands.text import printing
from heapwright.profile.run import profile_trace
from heapwright.record.recorder import HowToRecord
from heapwright.report.console import make_console
from heapwright.tailor.advice import PLACE, bare, pools, regions
from heapwright.tailor.deaths import lives_of

SHOWN = 5
"""Of each kind of advice."""
HOW = HowToRecord(stacks=True)


def run_advice(words: tuple[str, ...], *, json_file: str | None, quiet: bool) -> ExitCode:
    """Record the command, or read the trace, and print the advice. Raises HeapwrightError."""
    outputs = Outputs(json=json_file)
    if (given := trace_in(words)) is not None:
        outputs.spare(given)
        advice = advice_of(given)
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
            advice = advice_of(trace).model_copy(update={"input": words})
    failure = outputs.write(json=advice.to_json)
    _print(advice, outputs.stream, quiet=quiet)
    if failure is not None:
        raise failure
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
    requested = sum(each.bytes for each in lives.sites.values())
    return Advice(
        heapwright_version=__version__,
        input=(str(trace),),
        process=busiest,
        bytes=requested,
        calls=calls,
        regions=found,
        pools=tuple(pools(lives, sites, calls, found)),
        pins=tuple(_pins(profile)),
        answer=sentence(found, requested),
    )


def _pins(profile: Profile) -> list[Pin]:
    """Sites of the profile that pin pages at the peak, those with most pages first."""
    names = [each.name for each in profile.moments]
    if PEAK not in names:
        return []
    place = names.index(PEAK)
    return [
        Pin(
            function=PLACE.sub("", site.place),
            pages=site.pins_at(place).pinned,
            released_bytes=site.pins_at(place).released,
        )
        for site in profile.pinning_at(place)
    ]


@printing()
def _print(advice: Advice, stream: TextIO, *, quiet: bool) -> None:
    console = make_console(stream)

    def line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    line(advice.answer, "bold")
    if quiet:
        return
    for text in details(advice):
        line(text)


def sentence(found: Sequence[Region], requested: int) -> str:
    """The advice in one sentence; `requested` are all bytes of the program."""
    if not found:
        return "No objects die together: a region is not worth it"
    first = found[0]
    return (
        f"Make a region in {bare(first.function)}: {size(first.bytes)} of "
        f"{several(first.objects, 'object')} die with it ({first.bytes / max(1, requested):.0%} "
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
            *(f"    {text}" for text in each.sketch.splitlines()),
        ]
        if 2 * each.early_bytes > each.bytes:
            lines.append("  most bytes are freed earlier, so take a reap, which reuses them")
    if advice.pools:
        lines.append("\npools: one size, freed and allocated again")
    lines += [
        f"  {bare(each.function)}: {several(each.objects, 'object')} of {size(each.size)}"
        for each in advice.pools[:SHOWN]
    ]
    if advice.pins:
        lines.append("\nsites that pin pages at the peak (heapwright profile --pins)")
    lines += [
        f"  {bare(each.function)}: {size(each.released_bytes)} in {several(each.pages, 'page')}"
        for each in advice.pins[:SHOWN]
    ]
    return lines
