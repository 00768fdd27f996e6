# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A long run of a server: its memory over time, each run of its client, and how fast memory grows.

This is what `heapwright programs run --hours` writes; docs/how-to/long-runs.md explains every
figure, and its JSON Schema is `schema_text()`. While it runs, the same records go to a journal, a
line each. So a run that ended early can be read from there.

Invariants: Immutable. Times are seconds since the server was ready, and memory is bytes. An unknown
value is null, never 0. An example are the live bytes of an allocator that does not report them.

Versions:
    1  the first
"""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from heapwright.artefacts.documents import parsed
from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Environment
from heapwright.base.errors import HeapwrightError
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright long run"] = "heapwright long run"
JOURNAL = "heapwright-journal"
SeriesName = Literal["resident", "live", "held"]
PLAN, SAMPLE, ROUND, END = "long_run", "sample", "round", "end"
"""Keys of the lines of a journal."""


class Load(WrittenModel):
    """What the server is put under."""

    hours: float
    client: Annotated[bool, Field(description="false: the run has no load generator")] = True
    rest_s: Annotated[float, Field(description="After each run of the client; 0: none")] = 0.0
    vary: Annotated[str, Field(description="The parameter that changes; empty: none")] = ""
    values: Annotated[
        tuple[str, ...], Field(description="Its values, one for each run of the client, in turn")
    ] = ()


class Plan(WrittenModel):
    """What is known before the first sample."""

    program: ProgramSubject
    command: Annotated[tuple[str, ...], Field(description="The server")]
    allocator: str
    load: Load
    interval_s: float
    environment: Environment


class Sample(WrittenModel):
    """One look at all processes of the server."""

    time_s: float
    resident_bytes: Annotated[
        int, Field(description="A page that several processes share counts once")
    ]
    anonymous_bytes: Annotated[int, Field(description="Of it: of no file")]
    lazy_bytes: Annotated[
        int,
        Field(description="Of it: returned lazily, so the system may take it when it needs memory"),
    ] = 0
    swapped_bytes: int = 0
    live_bytes: Annotated[
        int | None, Field(description="By the allocator's own account; null: it does not tell")
    ] = None
    held_bytes: Annotated[
        int | None,
        Field(
            description="What the allocator has from the system beyond what is live, and no more "
            "than is resident"
        ),
    ] = None
    processes: int
    busy: Annotated[bool, Field(description="Its client was running")]


class Round(WrittenModel):
    """One run of the client."""

    begin_s: float
    end_s: float
    value: Annotated[str, Field(description="Of the parameter that changes")] = ""
    responses: dict[str, float] = {}


class Direction(StrEnum):
    """What the interval of a growth says."""

    GROWS = "grows"  # all of it lies above 0
    SHRINKS = "shrinks"  # all of it lies below 0
    LEVEL = "level"  # it holds 0: a growth within it cannot be excluded


class SeriesGrowth(WrittenModel):
    """How fast one series grows."""

    series: SeriesName
    bytes_per_hour: float
    low: float
    high: float
    level_bytes: Annotated[float, Field(description="Its median")]
    rise_bytes: Annotated[int, Field(description="In the time that was fitted, at that rate")]
    points: int
    inflation: Annotated[float, Field(description="Of the variance, by autocorrelation")]
    direction: Direction


class LongRun(WrittenModel):
    """The whole document."""

    format: Literal["heapwright long run"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    plan: Plan
    outcome: Outcome
    detail: str = ""
    interrupted: bool = False
    whole: Annotated[bool, Field(description="It came to its end, and was not read of a journal")]
    live_source: Annotated[
        str, Field(description="Function that reported the live bytes; empty: none")
    ] = ""
    samples: tuple[Sample, ...] = ()
    rounds: tuple[Round, ...] = ()
    confidence: float = 0.95
    settled_s: Annotated[float, Field(description="Growth is fitted from then on")] = 0.0
    growths: tuple[SeriesGrowth, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "LongRun":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def is_long_run(path: Path) -> bool:
    """Whether a file begins as a document of a long run, or as its journal, does."""
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except OSError:
        return False
    first = head.partition(b"\n")[0]
    if JOURNAL.encode() in first[:64]:
        return f'"{PLAN}":'.encode() in first
    return FORMAT.encode() in head[:256]


def read_long_run(path: Path) -> LongRun:
    """Of a document, or of a journal as far as it goes. Raises HeapwrightError."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror}") from error
    if text.startswith(b"{\n"):
        return parsed(LongRun, text, path, "a long run")
    try:
        return _of_journal(text.splitlines())
    except (ValidationError, ValueError, LookupError) as error:
        raise HeapwrightError(f"{path} is no long run of this version: {_first(error)}") from error


def _of_journal(lines: Iterable[bytes]) -> LongRun:
    """The last line may be incomplete, if its writer was killed."""
    records: list[dict[str, Any]] = []
    for line in lines:
        try:
            records.append(json.loads(line))
        except ValueError:
            break
    end = next((each[END] for each in records if END in each), None)
    ending = end or {
        "outcome": Outcome.FAILED,
        "detail": "the journal has no end: heapwright was killed, or its disk was full",
        "whole": False,
    }
    return LongRun(
        plan=Plan.model_validate(records[0][PLAN]),
        samples=tuple(Sample.model_validate(each[SAMPLE]) for each in records if SAMPLE in each),
        rounds=tuple(Round.model_validate(each[ROUND]) for each in records if ROUND in each),
        **ending,
    )


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
    return str(error) or type(error).__name__


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(LongRun, "long-run")
