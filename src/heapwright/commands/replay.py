# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole of `heapwright replay`, once its options are read: decode the trace, then compare.

What is compared is a command like any other, the replayer with the decoded trace; time and memory
are what it says of its calls, and the advice is for the command that was recorded.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from heapwright.artefacts.run.replay import ReplayPlan, ReplaySubject
from heapwright.artefacts.trace.file import trace_info
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.commands.compare import Options, Replayed, run_comparison
from heapwright.commands.output import Destination
from heapwright.commands.setup import discovering
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import with_preload
from heapwright.experiment.treatments import parse_requests
from heapwright.replay.once import replay_once
from heapwright.replay.output import figures_of
from heapwright.replay.prepare import prepare, run_words


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be replayed, and how."""

    trace: Path
    touch: Literal["none", "first-byte", "all", "as-recorded-size"]
    pace: Literal["asap", "recorded"]
    order: Literal["hand-over", "recorded"]
    check: bool
    process: int | None


@contextmanager
def _prepared(request: Request) -> Iterator[tuple[Path, ReplayPlan]]:
    """The trace, decoded into a file that is gone afterwards."""
    with Scratch() as folder:
        plan = folder / "plan"
        yield (
            plan,
            prepare(
                request.trace,
                plan,
                process=request.process,
                order=request.order,
                pace=request.pace,
            ),
        )


def run_replay(request: Request, options: Options) -> ExitCode:
    """Compare the replays; the exit status of `compare`. Raises HeapwrightError."""
    with _prepared(request) as (plan, found):
        subject = ReplaySubject(
            trace=str(request.trace),
            touch=request.touch,
            pace=request.pace,
            order=request.order,
            checked=request.check,
            plan=found,
        )
        replayed = Replayed(subject, _recorded(request.trace, found.process), figures_of)
        words = run_words(plan, touch=request.touch, checked=request.check)
        return run_comparison(replace(options, command=words, replayed=replayed))


def write_curve(request: Request, options: Options, curve: Path) -> ExitCode:
    """One replay, under one allocator, that writes what is live after each call."""
    names = options.allocators or (options.baseline,)
    if len(names) != 1 or "," in names[0]:
        raise HeapwrightError("--curve is of one replay: name one allocator with -a")
    target = Destination(str(curve), "--curve").path
    assert target is not None, "a file's name is never -"
    environment = dict(os.environ)
    with _prepared(request) as (plan, _), PreloadPaths() as paths:
        with discovering(environment, paths) as discovery:
            (chosen,) = discovery.requested(parse_requests(names, discovery.names))
        library = [] if chosen.path is None else [paths.of(Path(chosen.path))]
        replay_once(
            plan,
            with_preload({**environment, **chosen.environment}, *library),
            touch=request.touch,
            check=request.check,
            curve=target,
        )
    return ExitCode.OK


def _recorded(trace: Path, process: int) -> tuple[str, ...]:
    """The command that was recorded; empty if the trace does not know it."""
    for each in trace_info(trace).processes:
        if each.process == process:
            return each.arguments
    return ()
