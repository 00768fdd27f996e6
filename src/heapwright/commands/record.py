# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Recording a command, shared by `record`, `profile` and `explain`.

A program that no preload reaches is refused before the command runs, as in `compare`. Notes on the
trace are printed afterwards.
"""

import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.measured import Outcome as RunOutcome
from heapwright.artefacts.trace.file import STOPPED, trace_info
from heapwright.artefacts.trace.processes import processes_of
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import is_trace
from heapwright.base.quantities import several
from heapwright.commands.coverage import coverage_of
from heapwright.commands.program_setup import set_up_program
from heapwright.commands.setup import check
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.recorded import RecordedProgram
from heapwright.experiment.runner import witness_file
from heapwright.record.recorder import HowToRecord, Outcome, Request, ServerLoad, record

SUFFIX = ".trace"


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    command: tuple[str, ...]
    program: ProgramRequest | None
    """In place of the command."""
    output: Path | None
    stacks: bool
    sample: int
    follow: bool
    paused: bool
    system: bool
    limit: int | None
    control: Path | None
    toggle_signal: int | None
    mark_signal: int | None
    quiet: bool


def run_record(options: Options) -> int:
    """Record, and print the line at the end; the exit status is the command's.

    Raises HeapwrightError.
    """
    asked = options.program
    if options.mark_signal is not None and options.mark_signal == options.toggle_signal:
        raise HeapwrightError(
            "--mark-signal and --toggle-signal name the same signal", "choose two of them"
        )
    how = HowToRecord(
        stacks=options.stacks,
        sample=options.sample,
        follow=options.follow,
        paused=options.paused,
        system=options.system,
        limit=options.limit,
        control=options.control,
        toggle_signal=options.toggle_signal,
        mark_signal=options.mark_signal,
        bound=asked is not None,  # a command continues, and is recorded, if heapwright is killed
    )
    if asked is not None:
        trace = options.output or Path(f"{Path(asked.name).stem}{SUFFIX}")
        outcome, notes = record_program(asked, trace, how)
    else:
        trace = options.output or Path(f"{Path(options.command[0]).name}{SUFFIX}")
        outcome, notes = record_command(options.command, trace, how)
    if options.quiet:
        notes = ()
    else:
        _print_line(outcome, trace)
    for note in (*notes, *_lacking(outcome, trace, quiet=options.quiet)):
        print(f"  {note}", file=sys.stderr)  # noqa: T201
    return outcome.status or int(ExitCode.NOTHING_COMPARED if outcome.failed else ExitCode.OK)


def _print_line(outcome: Outcome, trace: Path) -> None:
    processes = len(processes_of(trace)) or outcome.processes
    each = f", {outcome.bytes / outcome.events:.1f} bytes each" if outcome.events else ""
    print(  # noqa: T201
        f"heapwright: {several(outcome.events, 'call')} of "
        f"{several(outcome.threads, 'thread')} in "
        f"{several(processes, 'process', 'processes')}{each}, "
        f"{outcome.seconds:.1f} s: {trace}",
        file=sys.stderr,
    )


def _lacking(outcome: Outcome, trace: Path, *, quiet: bool) -> list[str]:
    """The parts that the trace lacks, with reasons; if quiet, only whether it is empty."""
    info = trace_info(trace)
    coverage = coverage_of(info)
    if outcome.processes and not outcome.events:
        reasons = "" if coverage is None else coverage.reasons()
        if outcome.stop != "none":
            return ["the trace is empty: recording stopped before the first call was written"]
        why = reasons or (
            "the command asked malloc for nothing while recording was on"
            if info.sample_interval <= 1
            else f"no sample was taken. One block in {info.sample_interval:,} is recorded, and the "
            "calls for the other blocks are not counted; a smaller --sample records more"
        )
        return [f"the trace is empty: {why}"]
    return [] if quiet or coverage is None else coverage.remarks()


def is_empty(trace: Path) -> bool:
    """Whether it is a trace without a call."""
    return is_trace(trace) and not any(each.events for each in trace_info(trace).threads)


def record_command(
    command: tuple[str, ...],
    trace: Path,
    how: HowToRecord | None = None,
    *,
    behind: tuple[Path, ...] = (),
    variables: Mapping[str, str] | None = None,
    recorded: bool = True,
    stdout: Path | None = None,
) -> tuple[Outcome, tuple[str, ...]]:
    """Record the command with these libraries preloaded `behind` the recorder and these
    variables set. Its output goes to `stdout`, else to that of this process. Unless it is to be
    `recorded`, the recorder is left out, and the trace is empty. Returns the outcome and the notes
    for the user. Raises HeapwrightError."""
    environment = {**os.environ, **(variables or {})}
    warnings = check(command, Path.cwd(), environment, shell=False)
    with PreloadPaths() as paths:
        libraries = libraries_of(paths, behind)[0 if recorded else 1 :]
        request = Request(
            command,
            trace,
            _preload(libraries, environment),
            environment,
            how or HowToRecord(),
            secrets.randbits(63),
            Path(witness_file()),
            stdout=stdout,
        )
        outcome = record(request)
    if outcome.unfollowed:
        outcome = outcome.model_copy(update={"unfollowed": _unfollowed(outcome, trace)})
    notes = notes_on(outcome) if recorded else end_of(outcome)
    return outcome, (*warnings, *notes)


def _unfollowed(outcome: Outcome, trace: Path) -> int:
    """The processes that were not recorded. The recorder counts one twice that calls fork and
    exec."""
    accounts = trace_info(trace).accounts
    most: dict[int, int] = {}
    for each in () if accounts is None else accounts.processes:
        if each.served and not each.recorded:
            most[each.pid] = max(most.get(each.pid, 0), each.count)
    return min(sum(most.values()), outcome.unfollowed) or outcome.unfollowed


def record_program(
    asked: ProgramRequest,
    trace: Path,
    how: HowToRecord | None = None,
    *,
    behind: tuple[Path, ...] = (),
    variables: Mapping[str, str] | None = None,
) -> tuple[Outcome, tuple[str, ...]]:
    """Record a program according to its file. For a server, the client is not recorded."""
    setup = set_up_program(asked, os.environ)
    with (
        PreloadPaths() as paths,
        RecordedProgram(setup.prepared, setup.specs(paths)) as beside,
    ):
        libraries = libraries_of(paths, behind)
        driven = _server_of(beside)
        outcome = record(request_of(beside, trace, libraries, driven, how, variables))
        notes = (*beside.notes(), *_unless_asked(outcome, beside), *setup.notes)
        failed = beside.named.outcome is not RunOutcome.OK and not outcome.asked_to_end
    return outcome.model_copy(update={"failed": failed}), notes


def libraries_of(paths: PreloadPaths, behind: tuple[Path, ...]) -> tuple[str, ...]:
    """The preloaded libraries: the recorder, then the libraries `behind` it, then the witness."""
    return tuple(map(paths.of, (native.library("recorder"), *behind, native.witness())))


def _preload(libraries: tuple[str, ...], environment: Mapping[str, str]) -> str:
    return ":".join(filter(None, (*libraries, environment.get("LD_PRELOAD", ""))))


def request_of(
    beside: RecordedProgram,
    trace: Path,
    libraries: tuple[str, ...],
    driven: ServerLoad | None,
    how: HowToRecord | None = None,
    variables: Mapping[str, str] | None = None,
) -> Request:
    """The recording of a program, with the libraries of `libraries_of` preloaded."""
    environment = {**beside.environment, **(variables or {})}
    return Request(
        beside.words,
        trace,
        _preload(libraries, environment),
        environment,
        how or HowToRecord(),
        secrets.randbits(63),
        Path(witness_file()),
        cwd=beside.cwd,
        stdin=beside.stdin,
        stdout=beside.output,
        beside=driven,
    )


def _server_of(beside: RecordedProgram) -> ServerLoad | None:
    if beside.server is None:
        return None
    return ServerLoad(beside.drive, float(beside.server.timeout_s))


def _unless_asked(outcome: Outcome, beside: RecordedProgram) -> Iterator[str]:
    """The notes on a recording. The signal that ends a server is not reported."""
    if beside.server is not None and outcome.signal == signal.SIGTERM:
        outcome = outcome.model_copy(update={"signal": 0, "exit_status": 0})
    return notes_on(outcome)


def end_of(outcome: Outcome) -> Iterator[str]:
    """How the command failed, if it did."""
    if outcome.signal:
        yield f"the command was ended by {name_of_signal(outcome.signal)}"
    elif outcome.exit_status:
        yield f"the command exited with status {outcome.exit_status}"


def notes_on(outcome: Outcome) -> Iterator[str]:
    """The reasons why the trace lacks a part of the command."""
    yield from end_of(outcome)
    if outcome.stop != "none":
        yield f"recording stopped early: {STOPPED[outcome.stop]}; the command continued without it"
    if outcome.unfollowed:
        were = "was" if outcome.unfollowed == 1 else "were"
        yield (
            f"{several(outcome.unfollowed, 'process', 'processes')} that it started {were} not "
            "recorded; --follow-children records all of them"
        )
    if outcome.lost:
        were = "was" if outcome.lost == 1 else "were"
        yield (
            f"{several(outcome.lost, 'call')} {were} lost, in the middle of the record of another"
        )
    if not outcome.processes:
        yield "the recorder was not loaded into the command, so nothing was recorded"


def name_of_signal(number: int) -> str:
    """SIGKILL for 9; a number for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
