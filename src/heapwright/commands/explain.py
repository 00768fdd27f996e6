# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright explain`, after its options are read: record, search, judge, print."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from heapwright import __version__
from heapwright.analysis.long_run import fitted
from heapwright.artefacts.documents import refuse_document
from heapwright.artefacts.explanation.document import Ending, Explanation
from heapwright.artefacts.long_run.document import LongRun, is_long_run, read_long_run
from heapwright.artefacts.program.request import LongRunRequest, ProgramRequest
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import below, exists
from heapwright.base.scratch import Scratch
from heapwright.commands.command_long_run import long_run_of, refuse_beside_hours
from heapwright.commands.explained_processes import Seen, judged
from heapwright.commands.long_run import long_run, status_of
from heapwright.commands.output import Outputs, where_runs_are
from heapwright.commands.record import record_command, record_program
from heapwright.commands.text import printing
from heapwright.explain.leakscan import LIBRARY, VARIABLE, Listener, look
from heapwright.explain.long_run import explain_long_run
from heapwright.record.recorder import HowToRecord
from heapwright.report.console import make_console
from heapwright.report.explanation import print_explanation
from heapwright.report.long_run.words import ending

TRACE_VARIABLE = "HEAPWRIGHT_TRACE"
EXPLAINED = "a trace or a long run"
HINT = "`heapwright record` makes a trace, `heapwright explain --hours` a long run"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line, with one of command, program, trace and pid."""

    command: tuple[str, ...] | None
    program: ProgramRequest | None
    trace: Path | None
    pid: int | None
    json_file: str | None
    output: Path | None
    stacks: bool
    follow: bool
    quiet: bool
    long: LongRunRequest | None


def run_explanation(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
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
            found, lacking = judged(seen)
            status = ExitCode.NOTHING_COMPARED if seen.failed else status
    if options.trace is None:  # the recording printed its own messages
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
    """Run it for the given hours and explain that. The series stay in the journal."""
    refuse_beside_hours(
        {
            "-o": options.output is not None,
            "--no-stacks": not options.stacks,
            "--no-follow-children": not options.follow,
        }
    )
    if options.pid is not None or options.trace is not None:
        raise HeapwrightError(
            "--hours needs a command after --, or a program by --program",
            "to explain a finished long run, name its file without --hours",
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
    """Explain a long run, or the journal of an unfinished one."""
    run = read_long_run(path)
    return _explained(run), [] if run.whole else [run.detail]


def _explained(run: LongRun) -> Explanation:
    found = explain_long_run(run if run.growths else fitted(run))
    return found.model_copy(update={"heapwright_version": __version__})


@contextmanager
def _seen(options: Options) -> Iterator[Seen]:
    if options.trace is not None:
        yield Seen(options.trace)
    elif options.pid is not None:
        environment = _environment(options.pid)
        root = Path(f"/proc/{options.pid}/root")
        trace = trace_of(options.pid, environment, root)
        reach = look(trace, options.pid, stop=True)
        reaches = {} if reach is None else {reach.process: reach}
        yield Seen(
            trace, Ending.RUNNING, reaches, pid=options.pid, environment=environment, root=root
        )
    else:
        with Scratch() as folder:
            yield _recorded(options, options.output or folder / "trace")


def _environment(pid: int) -> dict[str, str]:
    """The start time of a running process. Raises HeapwrightError."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError as error:
        raise HeapwrightError(f"process {pid} cannot be looked at: {error.strerror}") from error
    pairs = (os.fsdecode(word).partition("=") for word in words if b"=" in word)
    return {name: value for name, _, value in pairs}


def trace_of(pid: int, environment: Mapping[str, str], root: Path) -> Path:
    """The trace that a running process is recorded into. Raises HeapwrightError.

    The trace of a process in a container is below its root folder.
    """
    if TRACE_VARIABLE not in environment:
        raise HeapwrightError(
            f"process {pid} is not recorded", "start it with: heapwright record -o T -- COMMAND"
        )
    trace = Path(environment[TRACE_VARIABLE])
    inside = below(root, trace)
    try:
        if inside.exists() and not (trace.exists() and trace.samefile(inside)):
            return inside
    except OSError as error:
        if not exists(trace):
            raise HeapwrightError(
                f"the trace of process {pid}, {trace}, cannot be read: {error.strerror}",
                "a process in another container needs the right SYS_PTRACE",
            ) from error
    return trace


def _recorded(options: Options, trace: Path) -> Seen:
    """Run the command to its end. There it waits while its memory is searched."""
    with Listener(trace) as listener:
        how = HowToRecord(stacks=options.stacks, follow=options.follow)
        behind, variables = (native.library(LIBRARY),), {VARIABLE: str(listener.address)}
        if options.program is not None:
            asked = options.program
            outcome, notes = record_program(asked, trace, how, behind=behind, variables=variables)
        else:
            words = options.command or ()
            outcome, notes = record_command(words, trace, how, behind=behind, variables=variables)
    for note in notes:
        typer.echo(f"heapwright: {note}", err=True)
    return Seen(
        trace,
        Ending.KILLED if outcome.signal else Ending.EXITED,
        listener.found,
        failed=outcome.failed,
    )
