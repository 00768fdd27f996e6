# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright run`: verify the preload, then become the command.

The verification comes first, because nothing of heapwright is left in the process afterwards. The
command gets the process number, the streams, the terminal and the environment of this process.
docs/decisions/run-by-exec.md has the reasons.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.setup import discovering
from heapwright.experiment.allocator_settings import read_settings
from heapwright.experiment.command_check import check_command, machine_of
from heapwright.experiment.preload import UNSAFE, PreloadPaths
from heapwright.experiment.probe import Prober, is_libc
from heapwright.experiment.runner import with_preload
from heapwright.experiment.treatments import Treatment, one_treatment, parse_requests

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SYSTEMD = "SYSTEMD_EXEC_PID"
"""The process that systemd itself has started."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    command: tuple[str, ...]
    allocator: str
    settings: tuple[str, ...]
    quiet: bool


def run_command(options: Options) -> NoReturn:
    """Become the command. Raises HeapwrightError with status 125 if it is not started."""
    environment = started_with()
    try:
        treatment, notes = _treatment(options, environment)
        notes += _verified(options.command, treatment, {**environment, **treatment.environment})
        library = () if treatment.preload is None else (str(treatment.preload),)
        if not options.quiet:
            for note in notes:
                print(f"heapwright: {note}", file=sys.stderr, flush=True)  # noqa: T201
        _become(options.command, with_preload({**environment, **treatment.environment}, *library))
    except HeapwrightError as error:
        raise HeapwrightError(error.message, error.hint, exit_code=ExitCode.NOT_STARTED) from error


def started_with() -> dict[str, str]:
    """The environment that this process was started with.

    In the locale C, Python adds LC_CTYPE to its own environment.
    """
    environment = dict(os.environ)
    variables = Path("/proc/self/environ").read_bytes().split(b"\0")
    if not any(each.startswith(b"LC_CTYPE=") for each in variables):
        environment.pop("LC_CTYPE", None)
    return environment


def _treatment(options: Options, environment: Mapping[str, str]) -> tuple[Treatment, list[str]]:
    """The allocator with its settings, known to be effective in a small program."""
    with discovering(environment) as discovery:
        requests = parse_requests([options.allocator], discovery.names)
        if len(requests) != 1:
            raise HeapwrightError(f"{options.allocator} names more than one allocator")
        settings = read_settings(requests[0], discovery.entry(requests[0]), options.settings)
        (allocator,) = discovery.requested(requests)
    if not allocator.effective:
        raise HeapwrightError(f"{allocator.name} would have no effect: {allocator.reason}")
    _refuse_unsafe(allocator)
    notes = [f"{allocator.name}: {allocator.reason}"] if allocator.reason else []
    return one_treatment(allocator, settings, environment), notes


def _refuse_unsafe(allocator: Allocator) -> None:
    """Other verbs use a temporary link for such a path. It would have to outlive this process."""
    if allocator.path and UNSAFE.intersection(allocator.path):
        raise HeapwrightError(
            f"LD_PRELOAD cannot hold the path {allocator.path}: there is a blank, a colon or a "
            "dollar sign in it",
            "copy the library to another folder, and name the copy with -a",
        )


def _verified(
    command: Sequence[str], treatment: Treatment, environment: Mapping[str, str]
) -> list[str]:
    """Notes on the command, after its program was seen to get malloc from the allocator.

    Raises HeapwrightError if the program gets malloc from elsewhere, or if this is unknown.
    """
    machine = machine_of(native.witness())
    checked = check_command(command, machine=machine, cwd=Path.cwd(), environment=environment)
    program, name = checked.executable, treatment.allocator.name
    with PreloadPaths() as paths:
        found = Prober(program, paths, environment).bindings(treatment.preload)
    if found.words:
        raise HeapwrightError(f"{name} is not loaded into {program}: {found.words}")
    others = [each for each in found.providers if not _is(treatment, each)]
    if others:
        raise HeapwrightError(
            f"{name} has no effect in {program}: its malloc comes from {others[0]}",
            "the program defines malloc itself; link it without, or with the allocator"
            if _same(program, others[0])
            else "",
        )
    if not found.providers:
        raise HeapwrightError(
            f"the effect of {name} on {program} cannot be verified: the loader reports no malloc",
            f"LD_PRELOAD={treatment.preload} starts it without a check"
            if treatment.preload
            else "start it without heapwright",
        )
    return [each for each in checked.warnings if "malloc of its own" not in each]


def _is(treatment: Treatment, provider: str) -> bool:
    if treatment.allocator.kind is Kind.SYSTEM or treatment.preload is None:
        return is_libc(provider)
    return _same(treatment.preload, provider)


def _same(file: Path, provider: str) -> bool:
    try:
        return file.samefile(provider)
    except OSError:
        return False


def _become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process by the command, with the signals as they were at the start.

    Python ignores SIGPIPE and SIGXFSZ, and does not know what they were before. Programs expect the
    default. Only systemd ignores SIGPIPE for the processes that it starts.
    """
    ignored = {signal.SIGPIPE, signal.SIGXFSZ}
    if environment.get(SYSTEMD) == str(os.getpid()):
        ignored.remove(signal.SIGPIPE)
    for number in (*ENDING, *ignored):
        if number in ignored or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], list(command), dict(environment))
    except OSError as error:
        raise HeapwrightError(f"{command[0]} cannot be started: {error.strerror}") from error
