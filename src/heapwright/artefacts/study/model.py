# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study: what a study file says, checked. docs/reference/study.md is the manual page of the
format.

The file is TOML; its JSON Schema is `schema_text()`. Only `artefacts.study.file` makes a study. It
finds the mistakes of the file, with the line. It checks what one field alone cannot show (names
that are not bound, levels that exist twice).

Invariants of a study from there: Immutable. Every name in a template, a constraint, an analysis or
a finding is bound. There is at least one factor. At most one factor chooses the allocator, and at
most one the processors. `format` goes up when a reader of the old form would be misled.

Versions:
    1  the first
"""

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from heapwright.artefacts.models import InputModel
from heapwright.artefacts.run.replay import GAPS, MOST_VISITS, Gaps, Touch
from heapwright.artefacts.study.acceptance import Acceptance
from heapwright.artefacts.study.factor import ALLOCATOR, CPUS, PARAMETER, Factor, Role, Scalar
from heapwright.artefacts.study.finding import Finding
from heapwright.artefacts.study.published import PublishedSource
from heapwright.artefacts.study.sensitivity import Sensitivity
from heapwright.artefacts.study.substitution import Substitution
from heapwright.base.json_schema import schema_text_of

FORMAT: Literal[1] = 1
Number = StrictInt | StrictFloat
Words = tuple[StrictStr, ...]

Origin = Literal[
    "wall",
    "user",
    "sys",
    "cpu",
    "peak_rss",
    "idle_rss",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "counter",
    "output",
    "measure",
    "program",
    "profile",
    "replay",
    "callgrind",
    "cachegrind",
]
PARSED: tuple[Origin, ...] = ("output", "measure")
"""Responses that are read out of text."""
UNITS: dict[Origin, str] = {
    "wall": "s",
    "user": "s",
    "sys": "s",
    "cpu": "s",
    "peak_rss": "B",
    "idle_rss": "B",
}


class Constraint(InputModel):
    """What must hold for a treatment to be run."""

    require: Annotated[StrictStr, Field(description="As in: threads >= cpus and size.low > 8")]
    because: StrictStr = ""


class Design(InputModel):
    """Which treatments are run, and how often."""

    kind: Literal["full", "fraction"] = "full"
    share: Annotated[
        Number | None,
        Field(gt=0, lt=1, description="Of a fraction: this part of the cells, balanced, by chance"),
    ] = None
    defining: Annotated[
        Words,
        Field(description="Of a fraction: its defining words, as in threads*size*pattern"),
    ] = ()
    blocks: Annotated[
        StrictInt, Field(ge=1, le=1_000_000, description="Repetitions, discarded ones included")
    ] = 10
    discard: Annotated[
        StrictInt,
        Field(ge=0, description="Number of first repetitions that are warm-up: kept, not analysed"),
    ] = 0
    seed: Annotated[
        StrictInt | None, Field(ge=0, description="Of the order and of a fraction; null: drawn")
    ] = None
    budget_min: Annotated[Number | None, Field(gt=0, description="Minutes; null: no limit")] = None


class Response(InputModel):
    """One figure of each run."""

    origin: Annotated[Origin, Field(alias="from")]
    better: Literal["lower", "higher", "none"] = "lower"
    unit: Annotated[StrictStr, Field(description="Empty: that of its origin, if it has one")] = ""
    title: StrictStr = ""
    pattern: Annotated[
        StrictStr | None, Field(description="Regular expression with the group `value`")
    ] = None
    json_path: Annotated[
        StrictStr | None, Field(alias="json", description="Keys and places, with dots between")
    ] = None
    last_number: Annotated[
        StrictStr | None, Field(description="The last number of the last line with this text")
    ] = None
    stream: Annotated[Literal["stdout", "stderr"], Field(description="Which output is read")] = (
        "stdout"
    )
    event: Annotated[
        StrictStr | None,
        Field(
            description="Of callgrind and cachegrind, as Ir, D1mr+D1mw; of counter, the machine's: "
            "instructions, cycles, cache-misses, branch-misses; null: instructions"
        ),
    ] = None
    figure: Annotated[
        StrictStr | None,
        Field(
            description="Of a profile: its path in the document, as totals.allocations; PATH=WORD "
            "is 1 where it is this word, else 0. Of a replay: as a_over_u, routines.malloc.mean_ns"
        ),
    ] = None
    scale: Annotated[
        Literal["log", "linear"] | None,
        Field(description="On which it is analysed; null: log if it is a time or memory"),
    ] = None

    @property
    def unit_text(self) -> str:
        return self.unit or UNITS.get(self.origin, "")


class Measure(InputModel):
    """A command that measures, in place of the runner's own figures."""

    command: Annotated[
        Words,
        Field(
            min_length=1,
            description="{command}, a word of its own, is the measured command. {report} is a file "
            "that it writes to, and that is then read instead of its output",
        ),
    ]


class Ready(InputModel):
    """When a server is ready; exactly one of these."""

    command: Annotated[Words, Field(description="Command that must exit with status 0")] = ()
    port: Annotated[StrictInt | None, Field(ge=1, le=65535, description="Can be connected")] = None
    socket: Annotated[StrictStr | None, Field(description="Can be connected")] = None
    path: Annotated[StrictStr | None, Field(description="Is there")] = None


class Server(InputModel):
    """Started before each run, awaited until it answers, stopped after the run."""

    command: Annotated[Words, Field(min_length=1)]
    ready: Ready
    timeout_s: Annotated[Number, Field(gt=0, description="To become ready, and to stop")] = 60
    preload: Annotated[
        StrictBool, Field(description="It, not the command, is under the allocator and measured")
    ] = True


Hook = StrictStr | Annotated[Words, Field(min_length=1)]
"""A line for the shell, or the words of a command."""


class Hooks(InputModel):
    """What is done around runs; not measured, not under the allocator."""

    before_allocator: Annotated[
        Hook | None, Field(description="Before the first run under an allocator")
    ] = None
    after_allocator: Annotated[
        Hook | None, Field(description="After the last run under an allocator")
    ] = None
    before_run: Hook | None = None
    after_run: Hook | None = None
    server: Server | None = None


class Scaling(InputModel):
    """How a response grows with a quantitative factor."""

    response: StrictStr
    by: StrictStr


class Analysis(InputModel):
    """What the analysis does beyond what it always does, and what the report shows."""

    interactions: Annotated[
        tuple[Annotated[Words, Field(min_length=2, max_length=3)], ...],
        Field(description="Three-way interactions; those of two are always analysed"),
    ] = ()
    facets: Annotated[
        tuple[Annotated[Words, Field(min_length=2, max_length=3)], ...],
        Field(description="Figures: the axis, the lines, and what divides the figure"),
    ] = ()
    scaling: tuple[Scaling, ...] = ()
    confidence: Annotated[Number, Field(gt=0.5, lt=1)] = 0.95
    margin: Annotated[
        Number, Field(ge=0, lt=1, description="Differences up to this share do not matter")
    ] = 0.02


class Study(InputModel):
    """The whole file, for one scale."""

    format: Literal[1]
    name: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
    title: StrictStr
    description: StrictStr = ""
    source: Annotated[StrictStr, Field(description="Where it was published")] = ""

    command: Annotated[
        Words,
        Field(
            description="{factor}, {factor.key}, {workload:NAME}: a workload's program, {folder}: "
            "that of the study file"
        ),
    ] = ()
    workload: Annotated[
        StrictStr | None, Field(description="Instead of a command: a named workload")
    ] = None
    arguments: Annotated[Words, Field(description="Of the workload")] = ()
    program: Annotated[
        StrictStr | None,
        Field(description="Instead of a command: a program that comes with heapwright, or a file"),
    ] = None
    parameters: Annotated[
        dict[str, Scalar],
        Field(description="Of the program; texts are templates, as in threads = '{threads}'"),
    ] = {}
    program_scale: Annotated[
        StrictStr | None,
        Field(description="Of the program; null: the scale of the study, if the program has it"),
    ] = None
    trace: Annotated[
        StrictStr | None,
        Field(description="Instead of a command: a trace to replay; synth:NAME: a re-created one"),
    ] = None
    touch: Annotated[
        Touch | None,
        Field(
            description="Of a trace: what the replay writes into each new object; null: as many "
            "bytes as the program requested (as-recorded-size)"
        ),
    ] = None
    gaps: Annotated[
        Gaps,
        Field(
            description="Of a trace: what the replay does between calls: nothing, or the recorded "
            "time as work"
        ),
    ] = GAPS
    visits: Annotated[
        float,
        Field(
            ge=0,
            le=MOST_VISITS,
            description="Of a trace: objects that are visited in a microsecond of this work",
        ),
    ] = 0.0
    process: Annotated[
        StrictInt | None,
        Field(
            ge=0,
            description="Of a trace: the number of the process that is replayed; null: the one "
            "with the most calls",
        ),
    ] = None
    prefix: Annotated[
        Words, Field(description="Before the command; filled in, then split into words")
    ] = ()
    stdin: Annotated[StrictStr | None, Field(description="A file; null: empty input")] = None
    cwd: Annotated[StrictStr | None, Field(description="null: where heapwright is started")] = None
    expect_exit: StrictInt = 0
    timeout_s: Annotated[Number | None, Field(gt=0)] = None
    environment: Annotated[dict[str, StrictStr], Field(description="Variables of every run")] = {}

    factors: Annotated[dict[str, Factor], Field(min_length=1)]
    constraints: tuple[Constraint, ...] = ()
    design: Design = Design()
    responses: Annotated[dict[str, Response], Field(min_length=1)]
    measure: Measure | None = None
    hooks: Hooks = Hooks()
    analysis: Analysis = Analysis()
    findings: Annotated[tuple[Finding, ...], Field(alias="finding")] = ()
    care: Annotated[
        Sensitivity | None, Field(description="Does it matter, for each level of a factor?")
    ] = None
    choice: Annotated[
        Substitution | None, Field(description="Is one level of a factor worth it? null: not asked")
    ] = None
    bar: Annotated[
        Acceptance | None, Field(description="Acceptance bar of one level; null: none")
    ] = None
    published: Annotated[
        tuple[PublishedSource, ...], Field(description="Tables that are shown beside the results")
    ] = ()
    scale: Annotated[
        dict[str, dict[str, Any]],
        Field(description="[scale.small…]: what is otherwise at that scale; tables are merged"),
    ] = {}

    def role(self, factor: str) -> Role:
        return self.factors[factor].role or (ALLOCATOR if factor == ALLOCATOR else PARAMETER)

    def _with_role(self, role: Role) -> str | None:
        return next((each for each in self.factors if self.role(each) == role), None)

    @property
    def allocator_factor(self) -> str | None:
        """The factor that chooses the allocator; None: every run has what it would have anyway."""
        return self._with_role(ALLOCATOR)

    @property
    def cpus_factor(self) -> str | None:
        return self._with_role(CPUS)

    @property
    def baseline(self) -> str | None:
        """The level of the allocators' factor that ratios refer to: what is named, or the first."""
        name = self.allocator_factor
        if name is None:
            return None
        return self.factors[name].baseline_name or self.factors[name].names[0]


def schema_text() -> str:
    """The JSON Schema of study files (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Study, "study", "validation")
