# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a search for an allocator that fits one program.

This is what `heapwright tailor --json` writes; docs/reference/tailor.md explains every figure, and
its JSON Schema is `schema_text()`.

Invariants: Immutable. An unknown value is null.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.run.provenance import Environment
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright tailoring"] = "heapwright tailoring"
Action = Literal["tailored", "existing", "undecided"]
Verdict = Literal["better", "trade", "same", "worse", "failed"]
"""better: a gain in one figure and no loss in the other; trade: a gain in one and a loss in the
other."""
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class ProgramFigures(WrittenModel):
    """What the proposals depend on, over all training inputs."""

    allocations: Count
    frees: Count
    reallocs: Count
    moved_reallocs: Count
    remote_frees: Annotated[Count, Field(description="By another thread than the allocating one")]
    threads: Annotated[Count, Field(description="Threads that allocate")]
    sizes: Annotated[Count, Field(description="Different requested sizes")]
    peak_live_bytes: Count
    never_freed: Count
    list_hits: Annotated[
        dict[int, Share],
        Field(
            description="By the length of a list of freed objects of each class and thread: the "
            "share of the requests that it serves"
        ),
    ]


class Candidate(WrittenModel):
    """One sentence of the grammar."""

    name: str
    digest: Annotated[str, Field(description="Of its steps; equal for equal code")]
    type: Annotated[str, Field(description="The steps, in the order of the header")]
    seconds: Annotated[float | None, Field(description="Least processor time of its replays")] = (
        None
    )
    peak_bytes: Annotated[int | None, Field(description="Largest peak of its replays")] = None
    faults: Annotated[int | None, Field(description="Page faults of a replay")] = None
    instructions: Annotated[
        int | None, Field(description="Of a replay in user mode; null: not counted")
    ] = None
    front: Annotated[
        bool, Field(description="No other has less time and less memory in the replays")
    ] = False
    left: Annotated[str, Field(description="Why it left the search; empty: a finalist")] = ""


class Ratio(WrittenModel):
    """A ratio with its interval; null: the runs give no bound."""

    ratio: float
    low: float | None
    high: float | None


class Round(WrittenModel):
    """The winner so far beside its neighbours."""

    beside: Annotated[str, Field(description="The winner at the begin of the round")]
    tried: Annotated[
        tuple[Candidate, ...],
        Field(
            description="Its neighbours. `left` is empty for those that raced. One without figures "
            "of a replay raced at once"
        ),
    ]
    raced: Annotated[
        dict[str, tuple[Ratio | None, Ratio | None]],
        Field(
            description="By allocator: time and memory relative to that winner in the race of the "
            "round. Empty: none gained in the replays"
        ),
    ] = {}
    winner: Annotated[str, Field(description="At the end of the round")]


class Refinement(WrittenModel):
    """The search around the winner of the race."""

    rounds: tuple[Round, ...] = ()
    ended: Annotated[str, Field(description="Why there is no further round")]


class Beside(WrittenModel):
    """The tailored allocator beside an existing one."""

    allocator: str
    time: Annotated[Ratio | None, Field(description="Tailored to existing; null: it failed")]
    memory: Ratio | None
    verdict: Verdict


class Judgement(WrittenModel):
    """The tailored allocator beside the best existing ones on one input."""

    command: tuple[str, ...]
    unseen: Annotated[bool, Field(description="The search has not used this input")]
    figure: Annotated[str, Field(description="Of the time: time (wall) or cpu")]
    blocks: Count
    beside: Annotated[
        tuple[Beside, ...], Field(description="The fastest of the race first, then the leanest")
    ]


class StepValue(WrittenModel):
    """The replay of the winner with one step undone. Its own figures are those of its candidate."""

    step: Annotated[str, Field(description="The step in the header, by what decides it")]
    instead: Annotated[str, Field(description="What takes its place")]
    seconds: float | None = None
    peak_bytes: int | None = None
    faults: int | None = None
    instructions: int | None = None
    why_not: Annotated[str, Field(description="Why it was not replayed; empty: it was")] = ""


class Proof(WrittenModel):
    """The examinations of one candidate before it is judged."""

    candidate: str
    conformance: Annotated[Count, Field(description="Cases of the suite that it passes")] = 0
    promises: Annotated[
        tuple[str, ...], Field(description="Mistakes with a promised end, which were made")
    ] = ()
    stress: Annotated[tuple[str, ...], Field(description="Workloads with threads")] = ()
    sanitizers: Annotated[tuple[str, ...], Field(description="Those of the builds that ran")] = ()
    missing: Annotated[tuple[str, ...], Field(description="Why others did not run")] = ()
    failed: Annotated[tuple[str, ...], Field(description="Empty: it is proved")] = ()


class Answer(WrittenModel):
    """What to do."""

    action: Action
    allocator: Annotated[str, Field(description="The one to use; empty: undecided")]
    reason: str
    notes: tuple[str, ...] = ()


class Tailoring(WrittenModel):
    """The whole document."""

    format: Literal["heapwright tailoring"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    environment: Environment
    inputs: Annotated[
        tuple[tuple[str, ...], ...], Field(description="The commands or traces of the search")
    ]
    unseen: tuple[tuple[str, ...], ...]
    compiler: str
    margin: float
    confidence: float
    seed: int
    figures: ProgramFigures
    candidates: tuple[Candidate, ...]
    raced: Annotated[
        dict[str, tuple[Ratio | None, Ratio | None]],
        Field(description="By allocator: time and memory relative to glibc in the race"),
    ] = {}
    refinement: Annotated[
        Refinement | None, Field(description="Of the winner of the race; null: there was none")
    ] = None
    winner: Annotated[
        str,
        Field(
            description="The candidate or neighbour that became the tailored allocator; empty: none"
        ),
    ] = ""
    steps: Annotated[
        tuple[StepValue, ...], Field(description="Of the winner, each undone in turn")
    ] = ()
    proofs: Annotated[
        tuple[Proof, ...], Field(description="Of each candidate that was to win, in their order")
    ] = ()
    judged: tuple[Judgement, ...] = ()
    header: Annotated[str, Field(description="Of the tailored allocator; empty: there is none")]
    library: str
    rebuild: Annotated[str, Field(description="The command that builds the library again")]
    rebuild_from_trace: Annotated[
        str, Field(description="The command that tailors it again, from the recorded input")
    ] = ""
    answer: Answer
    finished: bool

    def replayed(self, name: str) -> Candidate | None:
        """The candidate or the neighbour of this name."""
        rounds = self.refinement.rounds if self.refinement else ()
        every = (*self.candidates, *(each for found in rounds for each in found.tried))
        return next((each for each in every if each.name == name), None)

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Tailoring, "tailoring")
