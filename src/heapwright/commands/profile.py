# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright profile`, after its options are read: record or read, repeat, print.

All refusals come before the command runs. A trace of the command is kept only with `-o`. With
several repetitions the trace of the first is kept.
"""

import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.artefacts.long_run.document import is_long_run
from heapwright.artefacts.profile.asked_moments import NO_MOMENTS, AskedMoments
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.program.request import LongRunRequest, ProgramRequest
from heapwright.artefacts.stacks.read import tool_of
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.commands.command_long_run import long_run_of, refuse_beside_hours
from heapwright.commands.coverage import covered, read_covered
from heapwright.commands.long_run import run_long, tell_again
from heapwright.commands.output import Outputs, name_page
from heapwright.commands.record import record_command, record_program
from heapwright.commands.sampled import Sampled, run_sampled
from heapwright.commands.text import printing
from heapwright.profile.run import profile_trace
from heapwright.profile.spread import repeated
from heapwright.profile.stacks import read_named_stacks
from heapwright.record.recorder import HowToRecord
from heapwright.report.console import make_console
from heapwright.report.profile.comparison_page import comparison_page
from heapwright.report.profile.comparison_table import print_comparison
from heapwright.report.profile.page import page
from heapwright.report.profile.summary import print_summary
from heapwright.report.stacks.page import stacks_page
from heapwright.report.stacks.summary import print_stacks


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    files: tuple[Path, ...]
    command: tuple[str, ...] | None
    program: ProgramRequest | None
    json_file: str | None
    html_file: str | None
    compare: bool
    process: int | None
    repetitions: int
    trace: Path | None
    stacks: bool
    sample: int
    follow: bool
    quiet: bool
    sample_bytes: int | None = None
    """The mean distance of samples by bytes; None: blocks are recorded."""
    long: LongRunRequest | None = None
    moments: AskedMoments = NO_MOMENTS

    @property
    def is_recorded(self) -> bool:
        """Whether a command is run; otherwise a trace is read."""
        return self.command is not None or self.program is not None


def run_profile(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    _refuse(options)
    if not options.is_recorded:
        _refuse_recording(options)
    other = _without_trace(options)
    if other is not None:
        return other
    outputs = Outputs(json=options.json_file, html=options.html_file)
    tool = None if options.is_recorded else _tool(options)
    if options.compare:
        _compare(options, outputs)
        return ExitCode.OK
    if tool is not None:
        _show_stacks(options, outputs)
        return ExitCode.OK
    notes: list[str] = []
    status = ExitCode.OK
    if options.is_recorded:
        profile, status = _recorded(options, notes)
    else:
        profile = _read(options)
    failure = outputs.write(json=profile.to_json, html=lambda: _page(profile))
    _print(profile, options, outputs)
    name_page(outputs, failure, quiet=options.quiet)
    if options.quiet and profile.coverage is not None and (gap := profile.coverage.gap()):
        notes.append(gap)
    for note in notes:
        print(f"heapwright: {note}", file=sys.stderr)  # noqa: T201
    if failure is not None:
        raise failure
    return status


def _without_trace(options: Options) -> ExitCode | None:
    """Do what needs no trace of one run; None if it is not asked."""
    if options.sample_bytes is not None:
        return _sampled(options, options.sample_bytes)
    if options.long is not None:
        return _profile_hours(options, options.long)
    if not options.is_recorded and not options.compare and is_long_run(options.files[0]):
        return tell_again(options.files[0], options.json_file, options.html_file)
    return None


def _refuse(options: Options) -> None:
    """Refuse options that exclude each other, and moments that no run has."""
    options.moments.refuse_impossible()
    if options.command is not None and options.program is not None:
        raise HeapwrightError("either a command is profiled, or a program by --program")
    if options.is_recorded and (options.files or options.compare):
        raise HeapwrightError("either a trace is profiled, or a command is run, after --")
    if options.compare:
        if len(options.files) != 2:
            raise HeapwrightError("--compare needs two files: traces, or profiles as JSON")
        if options.json_file is not None:
            raise HeapwrightError(
                "--compare writes no JSON", "both profiles have their own; --html makes a page"
            )
    elif not options.is_recorded and len(options.files) != 1:
        raise HeapwrightError(
            "one trace is profiled, or a command, after --",
            "heapwright profile TRACE, or heapwright profile -- ./program",
        )
    if options.compare and options.moments:
        raise HeapwrightError(
            "--at, --between and --pins are for one profile, not for --compare",
            "--between compares two moments of one run",
        )


def _refuse_recording(options: Options) -> None:
    """Refuse options of a recording where nothing is recorded."""
    given = {
        "-n": options.repetitions > 1,
        "-o": options.trace is not None,
        "--stacks": options.stacks,
        "--sample": options.sample > 1 or options.sample_bytes is not None,
        "--follow-children": options.follow,
    }
    for option, is_given in given.items():
        if is_given:
            raise HeapwrightError(
                f"{option} is for recording a command, and there is no command",
                "give the command after --",
            )


def _profile_hours(options: Options, long: LongRunRequest) -> ExitCode:
    """Run it for the given hours and print the growth of its memory."""
    refuse_beside_hours(
        {
            "a trace": options.files,
            "--compare": options.compare,
            "-n": options.repetitions > 1,
            "-o": options.trace is not None,
            "--stacks": options.stacks,
            "--sample": options.sample > 1,
            "--follow-children": options.follow,
            "--process": options.process is not None,
            "--at, --between and --pins": options.moments,
            "-q": options.quiet,
        }
    )
    asked = long_run_of(options.program, options.command, long)
    return run_long(replace(asked, json_file=options.json_file, html_file=options.html_file))


def _sampled(options: Options, mean: int) -> ExitCode:
    """Run it under the sampler. Refuses what samples cannot answer."""
    beside = {
        "--program": options.program is not None,
        "--hours": options.long is not None,
        "-n": options.repetitions > 1,
        "--json": options.json_file is not None,
        "--process": options.process is not None,
        "--at, --between and --pins": options.moments,
    }
    for option, is_given in beside.items():
        if is_given:
            raise HeapwrightError(
                f"{option} is not for --sample SIZE, which estimates from samples",
                "leave it out, or record the program: without --sample, or with --sample N",
            )
    return run_sampled(
        Sampled(options.command or (), mean, options.trace, options.html_file, options.quiet)
    )


def _tool(options: Options) -> str | None:
    """The other tool that wrote the file; None if none did. Refuses what its file cannot answer."""
    tools = [(path, tool) for path in options.files if (tool := tool_of(path)) is not None]
    if not tools:
        return None
    path, tool = tools[0]
    if options.compare:
        raise HeapwrightError(
            f"{path} is a file of {tool}: --compare needs traces, or profiles as JSON",
            "heapwright profile shows one such file",
        )
    if options.json_file is not None:
        raise HeapwrightError(
            f"{path} is a file of {tool}, which lacks most figures of the profile's JSON",
            "heapwright export writes --speedscope, which is JSON, and other formats",
        )
    if options.process is not None:
        raise HeapwrightError(
            f"{path} is a file of {tool} and has one process", "leave out --process"
        )
    if options.moments:
        raise HeapwrightError(
            f"{path} is a file of {tool}: its moments cannot be chosen",
            "leave out --at, --between and --pins, or record the program with heapwright",
        )
    return tool


def _show_stacks(options: Options, outputs: Outputs) -> None:
    """Print the heap profile of another tool, and write its page."""
    path = options.files[0]
    stacks = read_named_stacks(path)
    failure = outputs.write(html=lambda: stacks_page(stacks, path.name))
    with printing():
        print_stacks(make_console(outputs.stream), stacks, quiet=options.quiet)
    name_page(outputs, failure, quiet=options.quiet)
    if failure is not None:
        raise failure


def _read(options: Options) -> Profile:
    return read_covered(options.files[0], options.process, options.moments)


def _recorded(options: Options, notes: list[str]) -> tuple[Profile, ExitCode]:
    """Record the command the requested number of times, with one trace on the disk at a time.

    Ctrl-C ends the repetitions. The recorded part is reported.
    """
    profiles, status = [], ExitCode.OK
    with Scratch() as folder:
        for repetition in range(options.repetitions):
            kept = options.trace if repetition == 0 else None
            path = kept or folder / "trace"
            stacks = options.stacks or bool(options.moments)
            how = HowToRecord(stacks, options.sample, options.follow)
            if options.program is not None:
                outcome, told = record_program(options.program, path, how)
            else:
                outcome, told = record_command(options.command or (), path, how)
            notes += [note for note in told if note not in notes]
            status = ExitCode.NOTHING_COMPARED if outcome.failed else status
            profile = covered(profile_trace(path, options.process, asked=options.moments), path)
            if kept is None:
                path.unlink()
                origin = profile.provenance.model_copy(update={"trace": ""})
                profile = profile.model_copy(update={"provenance": origin})
            profiles.append(profile)
            if outcome.signal == signal.SIGINT:
                break
    return repeated(profiles), status


def _compare(options: Options, outputs: Outputs) -> None:
    before, after = (read_covered(path, options.process) for path in options.files)
    names = str(options.files[0]), str(options.files[1])
    failure = outputs.write(html=lambda: comparison_page(before, after, names))
    with printing():
        print_comparison(make_console(outputs.stream), before, after, names, quiet=options.quiet)
    name_page(outputs, failure, quiet=options.quiet)
    if failure is not None:
        raise failure


def _page(profile: Profile) -> str:
    return page(profile)


def _print(profile: Profile, options: Options, outputs: Outputs) -> None:
    with printing():
        print_summary(make_console(outputs.stream), profile, quiet=options.quiet)
