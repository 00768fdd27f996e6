# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison: what `heapwright compare` measured and concluded.

This is the document that `--json` writes; docs/reference/comparison-json.md explains every field,
and its JSON Schema is `schema_text()`. It holds every raw run beside the conclusions from them. A
later analysis never needs to run anything, and a later report never needs to analyse.

Invariants: immutable; reading back what was written gives an equal object; a figure that could not
be had is null, never zero. `schema_version` goes up when a reader of the old form would be misled.

Versions:
    1  the first
    2  races: treatments may be absent from later blocks, `design.race`, `race`, method `race`;
       named commands: the allocator may be "", treatments may have a `command`;
       parameters: a treatment may have `parameters`, and `levels` has what was found at each level
"""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Environment, Kind
from heapwright.artefacts.run.replay import ReplaySubject
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[2] = 2

Key = tuple[str, str]
"""A treatment's key: (allocator, level); the level is "" where the allocator has no setting.

The level of a named command begins with its name and ends with its parameters. Its allocator is ""
if the command runs as it is.
"""

Response = str
"""`time` (wall seconds), `memory` (peak resident bytes of the process tree), `cpu` (user + system
seconds). In addition, the names in the `measures` of the runs.
"""


def label_of(allocator: str, level: str) -> str:
    """How a treatment is called towards people."""
    return f"{allocator} [{level}]" if level and allocator else allocator or level


class Design(WrittenModel):
    """How the runs were ordered, repeated and ended."""

    blocks: Annotated[int, Field(ge=0, description="Measured blocks that were run to their end")]
    warmup: Annotated[int, Field(ge=0, description="Warm-up blocks before them")]
    seed: Annotated[int, Field(description="The same seed gives the same order")]
    baseline: Annotated[str, Field(description="Label of the treatment the ratios refer to")]
    until: Annotated[
        float | None, Field(description="Requested half-width, as a fraction; null: blocks fixed")
    ] = None
    looks: Annotated[
        tuple[int, ...], Field(description="Blocks after which the precision was to be judged")
    ] = ()
    confidence: Annotated[
        float, Field(gt=0, lt=1, description="Over all looks together, for each response")
    ] = 0.95
    margin: Annotated[
        float, Field(ge=0, lt=1, description="Differences up to this fraction do not matter")
    ] = 0.02
    cap_bytes: Annotated[
        int | None, Field(gt=0, description="Advice only what peaks below this")
    ] = None
    pinned_cpus: tuple[int, ...] = ()
    timeout_s: Annotated[float | None, Field(description="Limit of one run; null: none")] = None
    stopped_because: Annotated[str, Field(description="Which rule ended the experiment")]
    race: Annotated[
        Literal["time", "cpu"] | None,
        Field(description="The response that decides the race; null: complete blocks"),
    ] = None
    exact: Annotated[
        bool,
        Field(
            description="Measured runs count under valgrind and have no times and no memory; "
            "warm-up runs are plain runs"
        ),
    ] = False


class TreatmentInfo(WrittenModel):
    """An allocator at one of its levels: what exactly was put under the command."""

    allocator: str
    level: str = ""
    label: str
    kind: Annotated[
        Kind,
        Field(
            description="Shipped, the C library's, an installed library, or a library by its path"
        ),
    ]
    environment: Annotated[
        dict[str, str], Field(description="Variables set besides LD_PRELOAD")
    ] = {}
    preload: Annotated[str | None, Field(description="Path of the library; null: none")] = None
    version: str = ""
    sha256: Annotated[str, Field(description="Of the library's file; empty: none")] = ""
    command: Annotated[
        tuple[str, ...], Field(description="Its own command; empty: that of the document")
    ] = ()
    parameters: Annotated[
        dict[str, str], Field(description="Value of each parameter; empty: there are none")
    ] = {}

    @property
    def key(self) -> Key:
        return (self.allocator, self.level)


class Effect(WrittenModel):
    """One treatment's ratio to the baseline in one response; below 1 is better."""

    allocator: str
    level: str = ""
    response: Response
    ratio: Annotated[float, Field(gt=0)]
    low: Annotated[
        float | None, Field(description="Simultaneous interval; null: not bounded by these runs")
    ]
    high: float | None
    group: Annotated[
        str,
        Field(
            description="Compact letters: treatments share one exactly if their intervals overlap; "
            "a is best; empty where there was no scatter to judge by"
        ),
    ]
    runs: Annotated[int, Field(ge=1, description="Good measured runs behind the figure")]

    @property
    def key(self) -> Key:
        return (self.allocator, self.level)


class Term(WrittenModel):
    """One line of the analysis of variance of a response's logarithm."""

    term: Literal["block", "treatment", "residual"]
    sum_of_squares: float
    df: int
    f: float | None = None
    p: float | None = None
    eta_squared: Annotated[float | None, Field(description="Share of the total sum of squares")] = (
        None
    )


class ResponseSummary(WrittenModel):
    """How one response was analysed, and the baseline's own value."""

    response: Response
    unit: Literal["s", "bytes", "ns", "ratio", "count"]
    baseline_value: Annotated[
        float | None, Field(description="Geometric mean of the baseline's good runs")
    ]
    baseline_low: Annotated[float | None, Field(description="Smallest of them")] = None
    baseline_high: Annotated[float | None, Field(description="Largest of them")] = None
    method: Annotated[
        Literal["dunnett-t", "dunnett-bootstrap", "race", "none"],
        Field(
            description="Where the intervals are from: simultaneous ones, or race: each holds at "
            "all blocks at once; none: there are none"
        ),
    ]
    level: Annotated[
        float, Field(description="Confidence of these intervals: the share of this look")
    ]
    critical_value: Annotated[
        float | None, Field(description="Half-widths in standard errors, on the log scale")
    ] = None
    blocks: Annotated[int, Field(description="Blocks with at least two comparable good runs")]
    df: Annotated[int, Field(description="Degrees of freedom of the residual")]
    residual_sd: Annotated[
        float | None, Field(description="Of the logarithm: about the relative scatter of one run")
    ]
    anova: tuple[Term, ...] = ()
    notes: Annotated[tuple[str, ...], Field(description="What is unusual about these data")] = ()


class Departure(WrittenModel):
    """A treatment that left a race."""

    allocator: str
    level: str = ""
    block: Annotated[int, Field(description="The last block that it was run in")]
    why: Literal["slower", "failed", "over the cap"]
    ratio: Annotated[
        float | None,
        Field(description="Its deciding figure relative to the leader's, then; null: not slower"),
    ] = None
    leader: Annotated[str | None, Field(description="Label of the leader at that time")] = None

    @property
    def key(self) -> Key:
        return (self.allocator, self.level)


class RaceSummary(WrittenModel):
    """How a race went."""

    named: Annotated[str | None, Field(description="Label of the winner; null: not decided")]
    contenders: Annotated[
        tuple[str, ...],
        Field(description="Labels of those that may be within the margin of the best"),
    ]
    departures: Annotated[tuple[Departure, ...], Field(description="In the order of leaving")]


class Verdict(WrittenModel):
    """What to do, by the rule of docs/explanation/methods.md."""

    action: Literal["switch", "stay", "undecided"]
    allocator: Annotated[
        str | None, Field(description="The one to use; null where that is undecided")
    ]
    level: str = ""
    reason: Annotated[str, Field(description="One sentence")]
    notes: Annotated[
        tuple[str, ...], Field(description="Ties, failures, what would settle the question")
    ] = ()
    how: Annotated[tuple[str, ...], Field(description="Lines that apply the advice")] = ()


class Level(WrittenModel):
    """What was found at one level of the parameters; labels and keys are without parameters."""

    parameters: dict[str, str]
    baseline: Annotated[str, Field(description="Label of the treatment the ratios refer to")]
    responses: tuple[ResponseSummary, ...]
    pareto: tuple[str, ...]
    verdict: Verdict
    race: RaceSummary | None = None


class Comparison(WrittenModel):
    """The whole document."""

    schema_version: Literal[1, 2] = SCHEMA_VERSION
    heapwright_version: str
    command: tuple[str, ...]
    environment: Annotated[Environment, Field(description="The machine and the system")]
    revision: Annotated[
        str,
        Field(description="Commit of the program, as git describes it; empty: unknown"),
    ] = ""
    design: Design
    treatments: Annotated[tuple[TreatmentInfo, ...], Field(description="Baseline first")]
    runs: Annotated[tuple[Run, ...], Field(description="Every run, warm-ups too, in order")]
    effects: tuple[Effect, ...]
    responses: tuple[ResponseSummary, ...]
    pareto: Annotated[
        tuple[str, ...], Field(description="Labels of the front of time and memory, fastest first")
    ]
    verdict: Verdict
    race: Annotated[
        RaceSummary | None, Field(description="How the race went; null: complete blocks")
    ] = None
    levels: Annotated[
        tuple[Level, ...],
        Field(
            description="What was found at each level of the parameters; then `responses`, "
            "`pareto` and `race` are empty. Empty: there is one level"
        ),
    ] = ()
    replay: Annotated[
        ReplaySubject | None,
        Field(description="The trace that was replayed; null: the command itself was run"),
    ] = None
    program: Annotated[
        ProgramSubject | None,
        Field(description="The program that was run as its file says; null: a command was given"),
    ] = None

    def effect(self, key: Key, response: Response) -> Effect | None:
        """The effect of treatment `key` on `response`, if one was found."""
        matching = (e for e in self.effects if e.key == key and e.response == response)
        return next(matching, None)

    def response(self, response: Response) -> ResponseSummary | None:
        return next((r for r in self.responses if r.response == response), None)

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Comparison":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def count_outcomes(runs: Iterable[Run], key: Key) -> dict[Outcome, int]:
    """How the runs of treatment `key` ended, the good ones first, then in the order of the enum.

    A good warm-up is not counted, because it is not a result. A warm-up that ended badly is
    counted, because an allocator that crashed once has crashed.
    """
    mine = (run for run in runs if (run.allocator, run.level) == key)
    counts = Counter(run.outcome for run in mine if not (run.warmup and run.outcome is Outcome.OK))
    return {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Comparison, "comparison")
