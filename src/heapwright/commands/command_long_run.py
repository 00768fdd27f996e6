# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`--hours` of `profile` and `explain`: a long run, with the output of these verbs.

The run is that of `heapwright programs run --hours`. A command becomes a program without a load
generator. It is started once, in the current folder and with the current home, and ended when the
time is up.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.model import FORMAT, Program
from heapwright.artefacts.program.request import LongRunRequest, ProgramRequest
from heapwright.base.errors import HeapwrightError
from heapwright.commands.long_run import Options
from heapwright.experiment.program.session import SERVER_OUTPUT

NAME = "command"
NO_CLIENT = ("true",)
"""A program file must name a client; this one is never run."""
STOPS_S = 10.0
"""Seconds that the command has to end when the time is up."""


def refuse_beside_hours(given: Mapping[str, object]) -> None:
    """Refuse options of a recording. Raises HeapwrightError."""
    for option, value in given.items():
        if value:
            raise HeapwrightError(
                f"{option} belongs to a recording, and --hours records no calls",
                "it reads memory from outside, for any number of hours: docs/how-to/long-runs.md",
            )


def long_run_of(
    asked: ProgramRequest | None, command: tuple[str, ...] | None, long: LongRunRequest
) -> Options:
    """The program to run. Raises HeapwrightError."""
    if (asked is None) == (command is None):
        raise HeapwrightError(
            "--hours needs exactly one of: a command after --, or a program by --program"
        )
    if command is not None and (long.rest_s or long.vary):
        raise HeapwrightError(
            "--rest and --vary change the load of a client, and a command has none",
            "a program file says what its client is: docs/how-to/measuring-a-service.md",
        )
    program = program_of(command) if command is not None else asked
    assert program is not None
    return Options(
        program, long.allocator, long.hours, long.rest_s, long.vary, None, None, command is None
    )


def program_of(command: tuple[str, ...]) -> ProgramFile:
    """The command as a program: the server, whose client does nothing."""
    here = str(Path.cwd())
    kept = {"HOME": os.environ.get("HOME", here), "TMPDIR": tempfile.gettempdir()}
    document = {
        "format": FORMAT,
        "name": NAME,
        "title": " ".join(command),
        "cwd": _braced(here),
        "environment": {name: _braced(text) for name, text in kept.items()},
        "server": {
            "command": tuple(map(_braced, command)),
            "ready": {"path": f"{{run}}/../{SERVER_OUTPUT}"},  # the command creates it at its start
            "timeout_s": STOPS_S,
        },
        "command": NO_CLIENT,
    }
    program = Program.model_validate(document)
    told = program.model_dump_json().encode()
    return ProgramFile(program, NAME, Path(here), None, hashlib.sha256(told).hexdigest())


def _braced(text: str) -> str:
    """A text with its braces escaped, for templates."""
    return text.replace("{", "{{").replace("}", "}}")
