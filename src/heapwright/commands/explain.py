# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole of `heapwright explain`, once its options are read: record, look, judge, tell."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer

from heapwright import __version__
from heapwright.analysis.long_run import fitted
from heapwright.artefacts.documents import refuse_document
from heapwright.artefacts.explanation.document import Ending, Explanation
from heapwright.artefacts.long_run.document import LongRun, is_long_run, read_long_run
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.program.request import LongRunRequest, ProgramRequest
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.trace.file import TraceInfo, TraceProcess, trace_info
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.commands.command_long_run import long_run_of, refuse_beside_hours
from heapwright.commands.coverage import covered
from heapwright.commands.long_run import long_run, status_of
from heapwright.commands.output import Outputs, where_runs_are
from heapwright.commands.record import record_command, record_program
from heapwright.commands.text import printing
from heapwright.explain.evidence import Facts
from heapwright.explain.judge import explain, weight
from heapwright.explain.leakscan import LIBRARY, VARIABLE, Listener, Reach, look
from heapwright.explain.long_run import explain_long_run
from heapwright.explain.sentence import one_of
from heapwright.profile.run import profile_trace
from heapwright.record.recorder import HowToRecord
from heapwright.report.console import make_console
from heapwright.report.explanation import print_explanation
from heapwright.report.long_run.words import ending
from heapwright.report.profile.remarks import remarks

TRACE_VARIABLE = "HEAPWRIGHT_TRACE"
EXPLAINED = "a trace or a long run"
HINT = "`heapwright record` makes a trace, `heapwright explain --hours` a long run"
BUSY_PART = 100
MOST_JUDGED = 8


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read; one of command, program, trace and pid is given."""

    command: tuple[str, ...] | None
    program: ProgramRequest | None
    trace: Path | None
    pid: int | None
    json_file: str | None
    output: Path | None
    stacks: bool
    quiet: bool
    long: LongRunRequest | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """What there is to judge: a trace, how the recording ended if we know, what was reached."""

    trace: Path
    ending: Ending | None = None
    reaches: Mapping[int, Reach] = field(default_factory=dict)
    pid: int | None = None
    """The process that was asked for; null: any."""
    failed: bool = False
    """What was recorded was not as its program's file says."""


def run_explanation(options: Options) -> ExitCode:
    """Do it; the exit status. Raises HeapwrightError for what is refused."""
    outputs = Outputs(json=options.json_file)
    if options.long is not None:
        return _explain_hours(options, options.long, outputs)
    status = ExitCode.OK
    if options.trace is not None and is_long_run(options.trace):
        found, lacking = _long(options.trace)
    else:
        if options.trace is not None:
            refuse_document(options.trace, EXPLAINED, HINT)
        with _seen(options) as seen:
            found, lacking = _judged(seen)
            status = ExitCode.NOTHING_COMPARED if seen.failed else status
    if options.trace is None:  # the recording has told the rest
        lacking = [] if found.coverage is None else found.coverage.remarks()
    for remark in lacking:
        typer.echo(f"heapwright: {remark}", err=True)
    _tell(found, options, outputs)
    return status


def _tell(found: Explanation, options: Options, outputs: Outputs) -> None:
    failure = outputs.write(json=found.to_json)
    with printing():
        print_explanation(make_console(outputs.stream), found, quiet=options.quiet)
    if failure is not None:
        raise failure


def _explain_hours(options: Options, long: LongRunRequest, outputs: Outputs) -> ExitCode:
    """Run it for so long, and explain that. The series stay in the journal."""
    refuse_beside_hours({"-o": options.output is not None, "--no-stacks": not options.stacks})
    if options.pid is not None or options.trace is not None:
        raise HeapwrightError(
            "--hours wants something to run: a command, after --, or a program by --program",
            "a long run that was made is explained by its file alone",
        )
    asked = long_run_of(options.program, options.command, long)

    def tell(run: LongRun, journal: Journal) -> ExitCode:
        for line in where_runs_are(Outputs(), journal, None, any_runs=bool(run.samples)):
            typer.echo(f"heapwright: {line}", err=True)
        for line in (*ending(run), *run.notes):
            typer.echo(f"heapwright: {line}", err=True)
        if run.outcome is Outcome.OK or any(each.live_bytes is not None for each in run.samples):
            _tell(_explained(run), options, outputs)
        return status_of(run)

    return long_run(asked, tell)


def _long(path: Path) -> tuple[Explanation, list[str]]:
    """Of a long run, or of the journal of one that had no end."""
    run = read_long_run(path)
    return _explained(run), [] if run.whole else [run.detail]


def _explained(run: LongRun) -> Explanation:
    found = explain_long_run(run if run.growths else fitted(run))
    return found.model_copy(update={"heapwright_version": __version__})


@contextmanager
def _seen(options: Options) -> Iterator[_Seen]:
    if options.trace is not None:
        yield _Seen(options.trace)
    elif options.pid is not None:
        trace = trace_of(options.pid)
        reach = look(trace, options.pid, stop=True)
        reaches = {} if reach is None else {reach.process: reach}
        yield _Seen(trace, Ending.RUNNING, reaches, pid=options.pid)
    else:
        with Scratch() as folder:
            yield _recorded(options, options.output or folder / "trace")


def trace_of(pid: int) -> Path:
    """The trace that a running process is recorded into. Raises HeapwrightError."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError as error:
        raise HeapwrightError(f"process {pid} cannot be looked at: {error.strerror}") from error
    prefix = os.fsencode(TRACE_VARIABLE) + b"="
    for word in words:
        if word.startswith(prefix):
            return Path(os.fsdecode(word.removeprefix(prefix)))
    raise HeapwrightError(
        f"process {pid} is not recorded", "start it with: heapwright record -o T -- COMMAND"
    )


def _judged(seen: _Seen) -> tuple[Explanation, list[str]]:
    """Of a trace with several processes the one with the most important finding; and what the trace
    lacks, in words."""
    info = trace_info(seen.trace)
    processes = _busy(info, seen.reaches) if seen.pid is None else _of_pid(info, seen.pid)
    several = len(info.processes) > 1
    judged = [
        (
            process,
            *_of_process(seen, info, process, process.process if process and several else None),
        )
        for process in processes
    ]
    process, found, profile = max(judged, key=lambda each: weight(each[1]))  # of equals the first
    if process is not None and several:
        name = Path(process.executable).name or process.arguments[0]
        said = f"{found.sentence} {one_of(process.pid, name, len(info.processes))}"
        found = found.model_copy(update={"process": process.process, "sentence": said})
    return found.model_copy(update={"heapwright_version": __version__}), remarks(profile)


def _of_process(
    seen: _Seen, info: TraceInfo, process: TraceProcess | None, only: int | None
) -> tuple[Explanation, Profile]:
    reach = seen.reaches.get(process.process) if process else None
    if info.stop != "none":  # what was live then may have been freed since
        last = max((thread.last_ns for thread in info.threads), default=0)
        facts = Facts(ending=Ending.UNKNOWN, end_s=last / 1e9)
    else:
        facts = Facts(
            ending=_ending(info, process)
            if seen.ending is None or (process and process.parent is not None and not seen.pid)
            else seen.ending,
            reachability=None if reach is None else reach.summary,
            lost=None if reach is None else reach.lost,
            end_s=None if reach is None else (reach.since_utc_ns - info.start_utc_ns) / 1e9,
        )
    profile = covered(profile_trace(seen.trace, only), seen.trace)
    return explain(profile, facts), profile


def _of_pid(info: TraceInfo, pid: int) -> list[TraceProcess | None]:
    """The program that the process is now."""
    return [next((each for each in reversed(info.processes) if each.pid == pid), None)]


def _busy(info: TraceInfo, reaches: Mapping[int, Reach]) -> list[TraceProcess | None]:
    """The processes to judge, the one with most calls first: those that make a good part of the
    calls, and those in which a search found that blocks were lost."""
    calls = Counter[int]()
    for thread in info.threads:
        calls[thread.process] += thread.events
    ordered = sorted(info.processes, key=lambda each: -calls[each.process])
    found = [each for each in ordered if calls[each.process] * BUSY_PART >= calls.total()]
    lost = [
        each
        for each in ordered[MOST_JUDGED:]
        if each.process in reaches and reaches[each.process].summary.unreachable_bytes
    ]
    return [*found[:MOST_JUDGED], *lost[:MOST_JUDGED]] or [None]


def _ending(info: TraceInfo, process: TraceProcess | None) -> Ending:
    """As far as the trace tells."""
    if process is None or info.imported or info.generated:
        return Ending.UNKNOWN
    if process.end_ns is not None:
        return Ending.EXITED
    return Ending.KILLED if info.closed else Ending.RUNNING


def _recorded(options: Options, trace: Path) -> _Seen:
    """Run the command to its end, where it waits while its memory is looked at."""
    with Listener(trace) as listener:
        how = HowToRecord(stacks=options.stacks, follow=True)
        behind, variables = (native.library(LIBRARY),), {VARIABLE: str(listener.address)}
        if options.program is not None:
            asked = options.program
            outcome, notes = record_program(asked, trace, how, behind=behind, variables=variables)
        else:
            words = options.command or ()
            outcome, notes = record_command(words, trace, how, behind=behind, variables=variables)
    for note in notes:
        typer.echo(f"heapwright: {note}", err=True)
    return _Seen(
        trace,
        Ending.KILLED if outcome.signal else Ending.EXITED,
        listener.found,
        failed=outcome.failed,
    )
