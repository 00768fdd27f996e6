# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright replay`: carry out a recorded trace again, under each allocator.

This file is the command line only; `cli.replaying` does the work, with the machinery of `compare`.
docs/replay.md is the manual page.
"""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from heapwright.artefacts.errors import ExitCode, HeapwrightError
from heapwright.artefacts.paths import is_file
from heapwright.cli.compare import CONFIDENCE, LONGEST_MINUTES, LONGEST_S, UNTIL
from heapwright.cli.values import parse_cpus, parse_fraction, parse_margin, parse_size

EXAMPLES = """
\b
Examples:
  heapwright record -o T -- ./server --selftest
  heapwright replay T -a glibc,jemalloc,hoard --touch as-recorded-size
  heapwright replay T -a ./libmine.so --check -n 1
"""


class Touch(StrEnum):
    NONE = "none"
    FIRST_BYTE = "first-byte"
    ALL = "all"
    AS_RECORDED_SIZE = "as-recorded-size"


class Pace(StrEnum):
    ASAP = "asap"
    RECORDED = "recorded"


class Order(StrEnum):
    HAND_OVER = "hand-over"
    RECORDED = "recorded"


def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="What `heapwright record` wrote.")],
    allocators: Annotated[
        list[str] | None,
        typer.Option("-a", "--allocators", metavar="NAMES", help="As for compare."),
    ] = None,
    touch: Annotated[
        Touch,
        typer.Option(
            help="What is written into each object when it is given: nothing, its first "
            "byte, all that may be used, or as many bytes as were asked for."
        ),
    ] = Touch.NONE,
    pace: Annotated[
        Pace, typer.Option(help="As fast as can be, or not before the recorded times.")
    ] = Pace.ASAP,
    order: Annotated[
        Order,
        typer.Option(
            help="Threads wait only for objects of others, or keep the one recorded interleaving."
        ),
    ] = Order.HAND_OVER,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Verify contents, alignment, zeroes and that nothing "
            "overlaps; what is wrong is a failure.",
        ),
    ] = False,
    process: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="NUMBER", help="Of the trace. Default: the one with the most calls."
        ),
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare nothing: replay once and write the live bytes after each call as CSV.",
        ),
    ] = None,
    blocks: Annotated[
        int | None, typer.Option("-n", "--blocks", min=1, help="Run exactly this many blocks.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION",
            help="Go on until every ratio's half-width "
            f"is that small. Default, without -n: {UNTIL}.",
        ),
    ] = None,
    warmup: Annotated[int, typer.Option(min=0, help="Warm-up blocks.")] = 1,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            min=0.001,
            max=LONGEST_MINUTES,
            help="Begin no block that would end later.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.001, max=LONGEST_S, help="Limit of one run."),
    ] = None,
    baseline: Annotated[
        str, typer.Option(metavar="NAME", help="What the ratios refer to.")
    ] = "glibc",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME:VAR=VALUE", help="Add a level, as for compare."),
    ] = None,
    margin: Annotated[
        str, typer.Option(metavar="FRACTION", help="Differences up to this do not matter.")
    ] = "2%",
    cap: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Advise only what peaks below this.")
    ] = None,
    pin: Annotated[
        str | None, typer.Option(metavar="CPUS", help="Run on these processors only, as in 0-3,8.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same order of runs.")
    ] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON.")
    ] = None,
    csv_file: Annotated[
        str | None, typer.Option("--csv", metavar="FILE", help="Write the runs as CSV.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print nothing but the sentence.")
    ] = False,
) -> None:
    """Replay a trace under each allocator, in randomised blocks, and say which one to use."""
    if blocks is not None and until is not None:
        raise typer.BadParameter("-n says when to stop, and so does --until: give one of them")
    if not is_file(trace):
        raise HeapwrightError(f"there is no trace {trace}", "`heapwright record` makes one")
    from heapwright.cli.comparing import Options  # noqa: PLC0415
    from heapwright.cli.replaying import Request, run_replay, write_curve  # noqa: PLC0415

    request = Request(trace.absolute(), touch.value, pace.value, order.value, check, process)
    options = Options(
        command=(),
        allocators=tuple(allocators or ()),
        blocks=blocks,
        until=None if blocks is not None else parse_fraction(until or UNTIL),
        confidence=CONFIDENCE,
        warmup=warmup,
        budget_s=None if budget is None else budget * 60,
        timeout_s=timeout,
        baseline=baseline,
        settings=tuple(settings or ()),
        margin=parse_margin(margin),
        cap_bytes=None if cap is None else parse_size(cap),
        cpus=() if pin is None else parse_cpus(pin, os.sched_getaffinity(0)),
        seed=seed,
        json_file=json_file,
        csv_file=csv_file,
        quiet=quiet,
        cwd=Path().absolute(),
        stdin=None,
        prepare=None,
        shell=False,
        expect_exit=0,
    )
    status = run_replay(request, options) if curve is None else write_curve(request, options, curve)
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
