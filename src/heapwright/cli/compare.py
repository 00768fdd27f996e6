# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright compare`: run a command under each allocator and say what to do.

This file is the command line only: options are read and checked here, all before the first run;
`cli.comparing` does the work. docs/compare.md is the manual page.
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from heapwright.artefacts.errors import ExitCode, HeapwrightError
from heapwright.artefacts.paths import exists, is_folder
from heapwright.cli.values import parse_cpus, parse_fraction, parse_margin, parse_size

CONTEXT = {"allow_interspersed_args": False}
UNTIL = "3%"
CONFIDENCE = 0.95
LONGEST_S = 1e9
LONGEST_MINUTES = 1e7


def compare(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND", help="The command and its arguments, after --."),
    ],
    allocators: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--allocators",
            metavar="NAMES",
            help="Names, libraries (path/to/any.so) or name=path, separated by commas. "
            "Default: everything that `heapwright allocators` finds usable.",
        ),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option("-n", "--blocks", min=1, help="Run exactly this many blocks."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION",
            help="Go on until every ratio's half-width is that small; looks at 5, 10, 20 and 30 "
            f"blocks. Default, without -n: {UNTIL}.",
        ),
    ] = None,
    warmup: Annotated[
        int, typer.Option(min=0, help="Warm-up blocks: kept, marked, not analysed.")
    ] = 1,
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
        typer.Option(
            metavar="SECONDS",
            min=0.001,
            max=LONGEST_S,
            help="Limit of one run. Default: 20 times the baseline's warm-up, at least 60 s.",
        ),
    ] = None,
    baseline: Annotated[
        str, typer.Option(metavar="NAME", help="What the ratios refer to.")
    ] = "glibc",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME:VAR=VALUE",
            help="Add a level: the allocator with this variable set. May be repeated; the value "
            "is not split. The plain level stays.",
        ),
    ] = None,
    margin: Annotated[
        str, typer.Option(metavar="FRACTION", help="Differences up to this do not matter.")
    ] = "2%",
    cap: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Advise only what peaks below this; limits no run."),
    ] = None,
    pin: Annotated[
        str | None, typer.Option(metavar="CPUS", help="Run on these processors only, as in 0-3,8.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same order of runs.")
    ] = None,
    json_file: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write everything as JSON; - is stdout."),
    ] = None,
    csv_file: Annotated[
        str | None,
        typer.Option("--csv", metavar="FILE", help="Write the runs as CSV; - is stdout."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print nothing but the sentence.")
    ] = False,
    cwd: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Run the command in this folder.")
    ] = None,
    stdin: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What the command reads. Default: /dev/null."),
    ] = None,
    prepare: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run this in a shell before each run, not measured."),
    ] = None,
    shell: Annotated[
        bool, typer.Option("--shell", help="The command is one line for /bin/sh.")
    ] = False,
    expect_exit: Annotated[
        int, typer.Option(metavar="STATUS", min=0, max=255, help="The exit status of success.")
    ] = 0,
) -> None:
    """Run a command under each allocator, in randomised blocks, and say which one to use."""
    if blocks is not None and until is not None:
        raise typer.BadParameter("-n says when to stop, and so does --until: give one of them")
    from heapwright.cli.comparing import Options, run_comparison  # noqa: PLC0415

    options = Options(
        command=tuple(command),
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
        cwd=_folder(cwd),
        stdin=None if stdin is None else _readable(stdin),
        prepare=prepare,
        shell=shell,
        expect_exit=expect_exit,
    )
    status = run_comparison(options)
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))


def _folder(path: Path | None) -> Path:
    folder = (path or Path()).absolute()
    if not is_folder(folder):
        what = "is not a folder" if exists(folder) else "does not exist"
        raise HeapwrightError(f"--cwd {path} {what}")
    if not os.access(folder, os.X_OK):
        raise HeapwrightError(f"--cwd {path} cannot be entered")
    return folder


def _readable(path: Path) -> Path:
    if is_folder(path):
        raise HeapwrightError(f"--stdin {path} is a folder")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise HeapwrightError(f"--stdin {path} cannot be read: {error.strerror}") from error
    return path.absolute()
