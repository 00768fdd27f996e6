# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright look`, after its options are read: read the memory, judge, print."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import typer

from heapwright import __version__
from heapwright.artefacts.look.document import Access, Category, Kind, Look, Verdict
from heapwright.artefacts.run.serving import GLIBC, allocator_in_use
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.output import Outputs
from heapwright.commands.text import printing
from heapwright.look.foreign import contained_in_program, foreign, is_foreign, with_counters
from heapwright.look.mimalloc import mapped_version
from heapwright.look.notes import notes_on
from heapwright.look.process import (
    Process,
    environment_of,
    is_32_bit,
    missing_right,
    other_tracer,
    program_of,
    read_process,
)
from heapwright.look.scan import Denied, Scan, scan_core, scan_process
from heapwright.look.verdict import Seen, judge
from heapwright.report.console import make_console
from heapwright.report.look import print_look

NEXT = "next: heapwright explain -- COMMAND   (the call sites, from a start under the recorder)"
"""After a leak. The remedies of the other verdicts name their own commands."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    target: str
    pause: bool
    leaks: bool
    json_file: str | None
    quiet: bool


def run_look(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    outputs = Outputs(json=options.json_file)
    pid = int(options.target) if options.target.isascii() and options.target.isdigit() else None
    found = _core(options) if pid is None else _process(pid, options)
    failure = outputs.write(json=found.to_json)
    with printing():
        print_look(make_console(outputs.stream), found, quiet=options.quiet)
    if failure is not None:
        raise failure
    if found.verdict.kind is Kind.LEAK and not options.quiet and options.json_file != "-":
        outputs.stream.flush()
        typer.echo(NEXT, err=True)
    return ExitCode.OK if found.access is Access.FULL else ExitCode.NOTHING_COMPARED


def _process(pid: int, options: Options) -> Look:
    process = read_process(pid)
    if is_32_bit(pid):
        raise HeapwrightError(
            f"process {pid} ({process.name}) is a program for 32 bits, which is not supported"
        )
    version = mapped_version(pid)
    scan = scan_process(pid, pause=options.pause, leaks=options.leaks, mimalloc=version)
    if isinstance(scan, Denied):
        traced = other_tracer(process) if options.pause else None
        return _outside(process, *(traced or missing_right(process)))
    return _look(scan, process, environment_of(pid), "", version)


def _core(options: Options) -> Look:
    path = Path(options.target)
    if not path.is_file():
        raise HeapwrightError(
            f"{options.target} is "
            + ("a folder" if path.is_dir() else "neither the number of a process nor a file"),
            "heapwright look PID, or heapwright look CORE",
        )
    if options.pause:
        raise HeapwrightError("--pause is for a process, and this is a core file")
    return _look(scan_core(path, leaks=options.leaks), None, {}, options.target)


def _look(
    scan: Scan, process: Process | None, environment: dict[str, str], core: str, version: int = 0
) -> Look:
    """`version` is that of mimalloc; 0: unknown."""
    used = scan.glibc is not None and any(each.heaps for each in scan.glibc.arenas)
    serving = allocator_in_use(scan.objects)
    contained = "" if process is None or serving != GLIBC else contained_in_program(process.pid)
    allocator = serving if serving != GLIBC or used else contained
    trusted = scan.glibc if used else None
    other = None
    if is_foreign(allocator):
        program = "" if process is None else program_of(process.pid)
        other = with_counters(
            foreign(allocator, scan.objects, program, scan.categories),
            allocator,
            scan.mimalloc,
            version,
            is_core=process is None,
        )
    seen = Seen(
        scan.categories,
        allocator or GLIBC,
        trusted,
        scan.granary,
        scan.leaks,
        environment,
        pid=None if process is None else process.pid,
        missing_bytes=scan.missing_bytes,
        foreign=other,
        contained=contained,
    )
    return Look(
        heapwright_version=__version__,
        pid=None if process is None else process.pid,
        core=core,
        name="" if process is None else process.name,
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        access=Access.FULL,
        threads=None if process is None else process.threads,
        resident_bytes=seen.resident,
        swapped_bytes=sum(each.swapped_bytes for each in scan.categories),
        allocator=allocator,
        categories=scan.categories,
        glibc=scan.glibc,
        granary=scan.granary,
        foreign=other,
        stacks=scan.stacks,
        largest=scan.largest,
        leaks=scan.leaks,
        released_bytes=None
        if trusted is None
        else sum(each.released_bytes for each in trusted.arenas),
        missing_bytes=scan.missing_bytes,
        pause_ms=scan.pause_ms,
        copied_bytes=scan.copied_bytes,
        verdict=judge(seen),
        notes=tuple(notes_on(scan)),
    )


def _outside(process: Process, why: str, remedy: str) -> Look:
    """What remains without the right to read the memory."""
    sums = {
        "anonymous": process.anonymous,
        "files": process.files,
        "shared": process.shared,
    }
    return Look(
        heapwright_version=__version__,
        pid=process.pid,
        core="",
        name=process.name,
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        access=Access.STATUS,
        threads=process.threads,
        resident_bytes=process.resident,
        swapped_bytes=process.swapped,
        allocator="",
        categories=tuple(
            Category(
                name=name,
                mappings=0,
                bytes=0,
                resident_bytes=resident,
                swapped_bytes=0,
                lazy_free_bytes=0,
            )
            for name, resident in sums.items()
        ),
        glibc=None,
        granary=None,
        stacks=None,
        largest=(),
        leaks=None,
        released_bytes=None,
        missing_bytes=0,
        pause_ms=None,
        copied_bytes=0,
        verdict=Verdict(
            kind=Kind.UNKNOWN,
            sentence=f"Unknown: the memory of process {process.pid} ({process.name}) cannot be "
            f"read: {why}.",
            remedy=f"{remedy[0].upper()}{remedy[1:]}. The sums above need no right: heap, stacks "
            "and data are in anonymous memory.",
        ),
        notes=(),
    )
