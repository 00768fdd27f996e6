# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright replay`, after its options are read: decode the trace, then compare.

The compared command is the replayer with the decoded trace. Time and memory are those that the
replayer reports for its calls. The advice is for the recorded command.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from heapwright.artefacts.run.replay import (
    Order,
    ReplayPlan,
    ReplaySubject,
    Surroundings,
    Touch,
    shows_memory,
)
from heapwright.artefacts.trace.processes import RecordedProcess, processes_of, told
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.commands.compare import Options, Replayed, run_comparison
from heapwright.commands.output import Destination
from heapwright.commands.setup import discovering
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import with_preload
from heapwright.experiment.treatments import parse_requests
from heapwright.replay.once import replay_once
from heapwright.replay.output import reader_of
from heapwright.replay.prepare import prepare, refuse_beyond_memory, refuse_surroundings, run_words


@dataclass(frozen=True, slots=True)
class Request:
    """The trace to replay, and the method."""

    trace: Path
    touch: Touch
    pace: Literal["asap", "recorded"]
    order: Order
    surroundings: Surroundings
    check: bool
    process: int | None


@contextmanager
def _prepared(request: Request) -> Iterator[tuple[Path, ReplayPlan]]:
    """The trace, decoded into a temporary file."""
    refuse_surroundings(request.surroundings, request.touch)
    with Scratch() as folder:
        plan = folder / "plan"
        found = prepare(
            request.trace,
            plan,
            process=request.process,
            order=request.order,
            pace=request.pace,
            surroundings=request.surroundings,
        )
        refuse_beyond_memory(request.trace, found, request.touch)
        yield plan, found


def run_replay(request: Request, options: Options) -> ExitCode:
    """Compare the replays; the exit status of `compare`. Raises HeapwrightError."""
    if options.cap_bytes is not None and not shows_memory(request.touch):
        raise HeapwrightError(
            f"--cap needs the memory of the replays, and --touch {request.touch} gives none",
            "leave out --touch, or --cap",
        )
    with _prepared(request) as (plan, found):
        processes = processes_of(request.trace)
        subject = ReplaySubject(
            trace=str(request.trace),
            touch=request.touch,
            pace=request.pace,
            order=request.order,
            surroundings=request.surroundings,
            checked=request.check,
            processes=processes,
            plan=found,
        )
        recorded = next(each.command for each in processes if each.process == found.process)
        replayed = Replayed(
            subject, recorded, reader_of(request.touch, whole=request.surroundings.whole)
        )
        if options.quiet:
            _tell_process(processes, found)
        words = run_words(plan, touch=request.touch, checked=request.check)
        return run_comparison(replace(options, command=words, replayed=replayed))


def write_curve(request: Request, options: Options, curve: Path) -> ExitCode:
    """Replay once under one allocator, and write the live bytes after each call."""
    names = options.allocators or (options.baseline,)
    if len(names) != 1 or "," in names[0]:
        raise HeapwrightError("--curve is of one replay: name one allocator with -a")
    target = Destination(str(curve), "--curve").path
    assert target is not None, "a file's name is never -"
    environment = dict(os.environ)
    with _prepared(request) as (plan, found), PreloadPaths() as paths:
        with discovering(environment, paths) as discovery:
            (chosen,) = discovery.requested(parse_requests(names, discovery.names))
        _tell_process(processes_of(request.trace), found)
        library = [] if chosen.path is None else [paths.of(Path(chosen.path))]
        replay_once(
            plan,
            with_preload({**environment, **chosen.environment}, *library),
            touch=request.touch,
            check=request.check,
            curve=target,
        )
    return ExitCode.OK


def _tell_process(processes: Sequence[RecordedProcess], plan: ReplayPlan) -> None:
    """Print the replayed process if no report names it."""
    if note := told(processes, plan.process):
        print(f"heapwright: {note}", file=sys.stderr)  # noqa: T201
