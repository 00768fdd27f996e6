# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright replay`: carry out a recorded trace again, under each allocator.

This file is the command line only; `commands.replay` does the work, with the machinery of
`compare`. docs/reference/replay.md is the manual page.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.run.replay import GAPS, ORDER, TOUCH, Order, Surroundings, Touch
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import is_file
from heapwright.cli import options
from heapwright.cli.values import parse_margin, parse_size


class Pace(StrEnum):
    ASAP = "asap"
    RECORDED = "recorded"


app = options.application()


@app.command("replay")
def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A file of `heapwright record`.")],
    allocators: options.Allocators = None,
    touch: Annotated[
        Touch,
        typer.Option(
            help="The bytes written into each new object: the requested size, all "
            "usable bytes, the first byte, or none. The last two compare no memory."
        ),
    ] = TOUCH,
    pace: Annotated[
        Pace, typer.Option(help="As fast as possible, or not before the recorded times.")
    ] = Pace.ASAP,
    order: Annotated[
        Order,
        typer.Option(
            help="How far a thread may be ahead: Until it needs the object of another thread, "
            "only while live bytes stay close to the recorded ones, or not at all."
        ),
    ] = ORDER,
    gaps: options.ReplayedGaps = GAPS,
    visits: options.ReplayedVisits = 0.0,
    whole: options.WholeReplay = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Verify contents, alignment, zeroes and that nothing "
            "overlaps. Any violation is a failure.",
        ),
    ] = False,
    process: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=options.LARGEST_NUMBER,
            metavar="NUMBER",
            help="Which process of the trace (`heapwright trace info` lists them). Default: the "
            "one with the most calls.",
        ),
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Replay once, and write the live bytes after each call as CSV. Compare nothing.",
        ),
    ] = None,
    blocks: options.Blocks = None,
    until: options.Until = None,
    warmup: options.Warmup = 1,
    budget: options.Budget = None,
    timeout: options.Timeout = None,
    baseline: options.Baseline = "glibc",
    settings: options.Settings = None,
    margin: options.Margin = "2%",
    cap: options.Cap = None,
    pin: options.Pin = None,
    seed: options.OrderSeed = None,
    json_file: options.JsonFile = None,
    csv_file: options.CsvFile = None,
    quiet: options.SentenceAlone = False,
    advice: options.Advice = False,
) -> None:
    """Replay a trace under each allocator in randomised blocks and name the one to use.

    Examples:
      heapwright replay T -a glibc,jemalloc,hoard
      heapwright replay T -a ./libmine.so --check -n 1
      heapwright replay T --process 3 --touch none
      heapwright replay T --gaps recorded --visits 10
    """
    if not is_file(trace):
        raise HeapwrightError(f"there is no trace {trace}", "`heapwright record` makes one")
    if gaps != "none" and pace is Pace.RECORDED:
        raise HeapwrightError(
            "--gaps recorded already takes the recorded time between calls",
            "leave out --pace recorded",
        )
    request = commands.replay.Request(
        trace=trace.absolute(),
        touch=touch,
        pace=pace.value,
        order=order,
        surroundings=Surroundings(gaps=gaps, visits=visits, whole=whole),
        check=check,
        process=process,
    )
    chosen = commands.compare.Options(
        command=(),
        allocators=tuple(allocators or ()),
        blocks=blocks,
        until=options.until_of(blocks, until),
        confidence=options.CONFIDENCE,
        warmup=warmup,
        budget_s=options.seconds_of(budget),
        timeout_s=timeout,
        baseline=baseline,
        settings=tuple(settings or ()),
        margin=parse_margin(margin),
        cap_bytes=None if cap is None else parse_size(cap),
        cpus=options.cpus_of(pin),
        seed=seed,
        json_file=json_file,
        csv_file=csv_file,
        quiet=quiet,
        advice=advice,
    )
    status = (
        commands.replay.run_replay(request, chosen)
        if curve is None
        else commands.replay.write_curve(request, chosen, curve)
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
