# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Options of several verbs: their spelling, their help and the meaning of their values."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from heapwright.artefacts.program.request import LongRunRequest, ProgramRequest
from heapwright.artefacts.run.replay import LEAST_VISITS, MOST_VISITS, Gaps
from heapwright.base.errors import HeapwrightError
from heapwright.cli import completion
from heapwright.cli.forgotten_dashes import refuse_program
from heapwright.cli.values import parse_cpus, parse_fraction

COMMAND = "heapwright.command"
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""From the library below Typer. Some versions of Typer contain a copy of it."""
CONFIDENCE = 0.95
LONGEST_S = 1e9
LONGEST_MINUTES = 1e7
MOST_BLOCKS = 100_000
LARGEST_SEED = 2**63 - 1
LARGEST_PID = 2**22
LARGEST_NUMBER = 2**32 - 2
"""Of a process of a trace, and of blocks between two that are sampled."""


def minutes(words: str) -> Any:
    """An option that takes a time in minutes."""
    return typer.Option(metavar="MINUTES", min=0.001, max=LONGEST_MINUTES, help=words)


Allocators = Annotated[
    list[str] | None,
    typer.Option(
        "-a",
        "--allocators",
        metavar="NAMES",
        help="Names, libraries (path/to/any.so) or name=path, separated by commas. "
        "Groups: all, seeds, kernel, peers. Default: what one could deploy here (glibc and its "
        "settings, peers, granary).",
    ),
]
Blocks = Annotated[
    int | None,
    typer.Option("-n", "--blocks", min=1, max=MOST_BLOCKS, help="Run exactly this many blocks."),
]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="FRACTION",
        help="Run blocks until the half-width of each ratio is this small. Checks at 5, 10, 20 "
        "and 30 blocks. Default, without -n: a race, which drops slow allocators early.",
    ),
]
Warmup = Annotated[
    int,
    typer.Option(
        min=0, max=MOST_BLOCKS, help="Warm-up blocks. They are kept and marked, but not analysed."
    ),
]
Budget = Annotated[float | None, minutes("Start no block that would end after this time.")]
RunBudget = Annotated[float | None, minutes("Start no run after this time.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0.001,
        max=LONGEST_S,
        help="The limit of one run. Default: 20 times the baseline's warm-up, at least 60 s.",
    ),
]
Baseline = Annotated[
    str, typer.Option(metavar="NAME", help="The allocator that the ratios refer to.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME:VAR=VALUE",
        help="Add a level: the allocator with this variable set. May be repeated; the value "
        "is not split. The plain level stays.",
    ),
]
Margin = Annotated[
    str, typer.Option(metavar="FRACTION", help="Ignore differences up to this fraction.")
]
Cap = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Name only allocators with a peak below this. No run is limited."
    ),
]
Pin = Annotated[
    str | None, typer.Option(metavar="CPUS", help="Run on these processors only, such as 0-3,8.")
]
OrderSeed = Annotated[
    int | None,
    typer.Option(min=0, max=LARGEST_SEED, help="The same seed gives the same order of runs."),
]
LoadSeed = Annotated[
    int | None,
    typer.Option(min=0, max=LARGEST_SEED, help="The same seed gives the same order and objects."),
]
JsonFile = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write everything as JSON; - is stdout."),
]
CsvFile = Annotated[
    str | None, typer.Option("--csv", metavar="FILE", help="Write the runs as CSV; - is stdout.")
]
HtmlFile = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write a page; it needs no network.")
]
SentenceAlone = Annotated[bool, typer.Option("-q", "--quiet", help="Print the sentence only.")]
Advice = Annotated[
    bool,
    typer.Option(
        "--advice",
        help="Show how to apply the answer everywhere: shell, systemd, Dockerfile, Kubernetes, "
        "linker.",
    ),
]
KeptTrace = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="TRACE", help="Keep the trace in this file."),
]
Stacks = Annotated[
    bool, typer.Option("--stacks", help="Also record the call site of each request.")
]
Sample = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        max=LARGEST_NUMBER,
        help="Record one block in N, chosen by its address.",
    ),
]
Follow = Annotated[
    bool,
    typer.Option("--follow-children", help="Also record the processes that the command starts."),
]
ProcessNumber = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST_NUMBER,
        metavar="NUMBER",
        help="Use this process of the trace only. Default: all.",
    ),
]

ProgramName = Annotated[
    str | None,
    typer.Option(
        "--program",
        metavar="NAME",
        help="In place of a command: a program of `heapwright programs list`, or its file.",
        autocompletion=completion.programs,
    ),
]
ReplayedGaps = Annotated[
    Gaps,
    typer.Option(
        "--gaps", help="Between calls: nothing, or an equal amount of work for the recorded time."
    ),
]
WholeReplay = Annotated[
    bool,
    typer.Option(
        "--whole", help="The time of the replay is that of its process, with start and end."
    ),
]


def _rate_of_visits(visits: float) -> float:
    """The rate itself. NaN passes the limits of an option, which also have no gap."""
    if visits != 0 and not LEAST_VISITS <= visits <= MOST_VISITS:
        allowed = f"from {LEAST_VISITS:g} to {MOST_VISITS:g}"
        raise typer.BadParameter(f"{visits:g} is neither 0 nor {allowed}")
    return visits


ReplayedVisits = Annotated[
    float,
    typer.Option(
        "--visits",
        metavar="NUMBER",
        callback=_rate_of_visits,
        help="Objects whose memory is touched in a microsecond of that work.",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option("--scale", metavar="NAME", help="A scale of the program, such as small."),
]
Parameter = Annotated[
    list[str] | None,
    typer.Option("-p", metavar="NAME=VALUE", help="Change a parameter of the program."),
]

StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="A name of the list, or a file.", autocompletion=completion.studies
    ),
]
StudyScale = Annotated[
    str | None, typer.Option("--scale", metavar="NAME", help="A scale of the study, such as small.")
]

Hours = Annotated[
    float | None,
    typer.Option(
        metavar="H",
        min=0.001,
        max=9000.0,
        help="Run it for this many hours, and repeat the client of a server. Shows the memory over "
        "time.",
    ),
]
UnderForHours = Annotated[
    str | None,
    typer.Option(
        "-a",
        "--allocator",
        metavar="NAME",
        help="With --hours: the allocator of the run. Default: glibc.",
    ),
]
Rest = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.0,
        max=86400.0,
        help="With --hours: the pause after each run of the client.",
    ),
]
Vary = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=V,V…", help="With --hours: another value for each run of the client."
    ),
]


class Group(TyperGroup):
    """Names the words of which one is missing before a file."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word not in self.commands and Path(word).exists():
            names = ", ".join(self.commands)
            raise HeapwrightError(
                f"{word} is a file, and one of these names stands before it: {names}",
                f"{ctx.command_path} NAME {word}, where `{ctx.command_path} -h` explains the names",
            )
        return super().resolve_command(ctx, args)


def application(**settings: Any) -> typer.Typer:
    """A verb, or a group of verbs, as `lazy_group` takes it from a module."""
    return typer.Typer(cls=Group, add_completion=False, pretty_exceptions_enable=False, **settings)


class CommandAfterDashes(TyperCommand):
    """Separates the command after `--`. Options may stand anywhere before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            ctx.meta[COMMAND] = tuple(args[place + 1 :])
            return super().parse_args(ctx, args[:place])
        words = [*args]
        try:
            rest = super().parse_args(ctx, args)
        except USAGE_ERROR:
            refuse_program(ctx.command_path, words, words)
            raise
        arguments = {each.name for each in self.params if each.param_type_name == "argument"}
        values = [value for name, value in ctx.params.items() if name in arguments]
        several = [each if isinstance(each, list | tuple) else [each] for each in values]
        read = {str(value) for each in several for value in each}
        refuse_program(ctx.command_path, words, [word for word in words if word in read])
        return rest


def command_after_dashes(context: typer.Context) -> tuple[str, ...] | None:
    """The command after `--`; None without `--`. Raises HeapwrightError if `--` is the last
    word."""
    command: tuple[str, ...] | None = context.meta.get(COMMAND)
    if command == ():
        raise HeapwrightError("there is no command after --")
    return command


def program_request(
    name: str | None, scale: str | None, parameters: Sequence[str] | None
) -> ProgramRequest | None:
    """The program of `--program`, `--scale` and `-p`. The last two need the first."""
    if name is None:
        for option, value in (("--scale", scale), ("-p", parameters)):
            if value:
                raise HeapwrightError(
                    f"{option} is for a program, and none is named", "name it with --program"
                )
        return None
    return ProgramRequest(name, scale, tuple(parameters or ()))


def long_run_request(
    hours: float | None, allocator: str | None, rest_s: float, vary: str | None
) -> LongRunRequest | None:
    """The requested long run; None without --hours. Raises HeapwrightError."""
    if hours is None:
        refuse_without_hours({"-a": allocator, "--rest": rest_s, "--vary": vary})
        return None
    return LongRunRequest(hours, allocator or "glibc", rest_s, vary)


def refuse_without_hours(given: Mapping[str, object]) -> None:
    """Refuse options of a long run without --hours. Raises HeapwrightError."""
    for option, value in given.items():
        if value:
            raise HeapwrightError(
                f"{option} is of a long run", "state the length of the run with --hours"
            )


def refuse_beside_program(given: Mapping[str, object]) -> None:
    """Refuse options whose values come from the program's file."""
    for name, value in given.items():
        if value:
            raise HeapwrightError(
                f"--program is run as its file says: there cannot be {name} beside it",
                "`heapwright programs show NAME` has its parameters, which -p changes",
            )


def until_of(blocks: int | None, until: str | None) -> float | None:
    """The half-width of `--until`; None without it. Refused together with `-n`."""
    if until is None:
        return None
    if blocks is not None:
        raise typer.BadParameter("-n says when to stop, and so does --until: give one of them")
    return parse_fraction(until, "--until")


def seconds_of(budget: float | None) -> float | None:
    return None if budget is None else budget * 60


def cpus_of(pin: str | None) -> tuple[int, ...]:
    return () if pin is None else parse_cpus(pin, os.sched_getaffinity(0))
