# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program under study: what a program file says, checked. docs/reference/programs.md is the
manual page.

A program file describes one real program. It states its requirements, its data, how it runs, and
when it is ready. It states what is read from its output, and the conditions that the output must
meet. It has no factors, because a comparison or a study varies them. Its JSON Schema is
`schema_text()`. Only `artefacts.program.file` makes a program.

Invariants of a program from there: Immutable. Every name in a template is bound. A response of
which more is better has the name of its inverse, so that it can be compared like a time. `format`
goes up when a reader of the old form would be misled.

Versions:
    1  the first
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from heapwright.artefacts.models import InputModel
from heapwright.artefacts.study.factor import Scalar
from heapwright.base.json_schema import schema_text_of

FORMAT: Literal[1] = 1
Number = StrictInt | Annotated[float, Field(strict=True)]
Words = tuple[StrictStr, ...]
Step = StrictStr | Annotated[Words, Field(min_length=1)]
"""A line for the shell, or the words of a command."""
Steps = tuple[Step, ...]
Stream = Literal["stdout", "stderr", "log"]


class ProgramReady(InputModel):
    """When a server is ready; exactly one of these."""

    command: Annotated[Words, Field(description="Command that must exit with status 0")] = ()
    port: Annotated[StrictStr | StrictInt | None, Field(description="Can be connected")] = None
    socket: Annotated[StrictStr | None, Field(description="Can be connected")] = None
    path: Annotated[StrictStr | None, Field(description="Is there")] = None


class ProgramServer(InputModel):
    """Started afresh for each run, awaited until it answers, stopped after the client."""

    command: Annotated[Words, Field(min_length=1)]
    ready: ProgramReady
    timeout_s: Annotated[Number, Field(gt=0, description="To become ready, and to stop")] = 60
    load: Annotated[
        Steps, Field(description="When it is ready and before the client: what fills it; not timed")
    ] = ()
    stop: Annotated[Words, Field(description="What ends it; empty: SIGTERM")] = ()
    log: Annotated[
        StrictStr,
        Field(
            description="A file that it writes its complaints to; empty: its output and error "
            "output. The last lines are shown where it fails"
        ),
    ] = ""
    preload: Annotated[
        StrictBool, Field(description="It, not `command`, is under the allocator and measured")
    ] = True


class ProgramData(InputModel):
    """What the program works on: made once, from a seed, and kept."""

    commands: Annotated[Steps, Field(description="What makes it, in {data}")] = ()
    server: Annotated[
        ProgramServer | None,
        Field(description="Runs after `commands`; its `load` puts data into it"),
    ] = None
    size: Annotated[
        StrictStr, Field(description="About how much room it takes: 200M; refused if there is less")
    ] = ""
    made_by: Annotated[
        tuple[Annotated[Words, Field(min_length=1)], ...],
        Field(description="Commands that print a version: data of another version is made anew"),
    ] = ()
    files: Annotated[
        Words, Field(description="Files, by their path from the program file, that it is made with")
    ] = ()
    timeout_s: Annotated[Number, Field(gt=0, description="Of each of the commands")] = 3600


class ProgramResponse(InputModel):
    """One figure of each run, read from what the program, or its client, prints."""

    pattern: Annotated[
        StrictStr | None, Field(description="Regular expression with the group `value`")
    ] = None
    json_path: Annotated[
        StrictStr | None, Field(alias="json", description="Keys and places, with dots between")
    ] = None
    last_number: Annotated[
        StrictStr | None, Field(description="The last number of the last line with this text")
    ] = None
    stream: Annotated[Stream, Field(description="log: what the server writes")] = "stdout"
    unit: StrictStr = ""
    title: StrictStr = ""
    better: Literal["lower", "higher", "none"] = "lower"
    inverse: Annotated[
        StrictStr,
        Field(
            description="Where more is better: the name of 1/value, which is what comparisons "
            "compare; it ends in its unit, as in transaction_s"
        ),
    ] = ""


class ProgramCheck(InputModel):
    """The conditions of a valid run. A run that breaks one is `failed`, however fast it is."""

    what: Annotated[StrictStr, Field(min_length=1, description="In words: it is said if it fails")]
    pattern: Annotated[StrictStr | None, Field(description="Must be found")] = None
    without: Annotated[StrictStr | None, Field(description="Must not be found")] = None
    same_as: Annotated[
        StrictStr | None, Field(description="A file with exactly the same bytes: what is expected")
    ] = None
    command: Annotated[
        Step | None,
        Field(description="Command that must exit with status 0; a server still runs at that time"),
    ] = None
    stream: Annotated[Stream, Field(description="What is looked at")] = "stdout"
    file: Annotated[StrictStr | None, Field(description="Instead of a stream: this file")] = None


class Program(InputModel):
    """The whole file, for one scale and one choice of parameters."""

    format: Literal[1]
    name: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
    title: StrictStr
    description: StrictStr = ""
    source: Annotated[StrictStr, Field(description="Where its parameters were published")] = ""
    parts: Annotated[
        Words, Field(description="Files of parts/ that are merged under this one, the first lowest")
    ] = ()

    packages: Annotated[Words, Field(description="Of the distribution, as Debian names them")] = ()
    needs: Annotated[
        Words, Field(description="What must be here: names of programs, paths, python:MODULE")
    ] = ()
    caution: Annotated[
        Words, Field(description="What a reader of its figures should know; shown with them")
    ] = ()

    own_allocator: Annotated[
        StrictStr,
        Field(
            description="The allocator that it has inside and that no preload replaces: it is run "
            "as it is, and not compared"
        ),
    ] = ""

    parameters: Annotated[
        dict[str, Scalar], Field(description="Values for templates; -p NAME=VALUE changes one")
    ] = {}
    environment: Annotated[
        dict[str, StrictStr], Field(description="Of the program, its server and its client")
    ] = {}
    data: ProgramData | None = None
    fresh: Annotated[
        Words,
        Field(description="Parts of {data} that each run gets a copy of its own of, in {run}"),
    ] = ()
    before: Annotated[Steps, Field(description="Before each run, in {run}; not measured")] = ()
    server: Annotated[
        ProgramServer | None,
        Field(description="If it is one: it has the allocator, and `command` is its client"),
    ] = None
    command: Annotated[Words, Field(min_length=1)]
    stdin: Annotated[StrictStr | None, Field(description="A file; null: empty input")] = None
    cwd: StrictStr = "{run}"
    expect_exit: StrictInt = 0
    timeout_s: Annotated[
        Number | None, Field(gt=0, description="Of one run; null: what a comparison gives")
    ] = None
    client_threads: Annotated[
        StrictInt | StrictStr,
        Field(description="How many processors the client can use at a time; a template"),
    ] = 1
    responses: dict[str, ProgramResponse] = {}
    checks: Annotated[tuple[ProgramCheck, ...], Field(alias="check")] = ()
    scale: Annotated[
        dict[str, dict[str, Any]],
        Field(description="[scale.small…]: what is otherwise at that scale; tables are merged"),
    ] = {}

    @property
    def is_server(self) -> bool:
        """A server has the allocator, and the command is its client."""
        return self.server is not None and self.server.preload

    @property
    def measured(self) -> Words:
        """What has the allocator."""
        if self.server is not None and self.server.preload:
            return self.server.command
        return self.command


class _Written(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class ProgramFigure(_Written):
    """A response that is read from a program's output and compared."""

    measure: Annotated[str, Field(description="Its name in the runs' measures")]
    title: str
    unit: Annotated[str, Field(description="Of what was read: of 1/measure where it is inverse")]
    inverse: Annotated[bool, Field(description="More of what was read is better")] = False


class ProgramSubject(_Written):
    """Which program a comparison is about, as far as its command does not say it."""

    name: str
    title: str
    scale: Annotated[str, Field(description="Empty: the whole")] = ""
    parameters: dict[str, bool | int | float | str] = {}
    sha256: Annotated[str, Field(description="Of the program file and its parts")]
    data: Annotated[str, Field(description="Key of its prepared data; empty: it has none")] = ""
    client: Annotated[
        tuple[str, ...], Field(description="Of a server: its client; `command` is the server")
    ] = ()
    figures: tuple[ProgramFigure, ...] = ()


def schema_text() -> str:
    """The JSON Schema of program files (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Program, "program", "validation")
