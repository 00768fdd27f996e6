# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is in the results folder of a study: its design, and a line for each run.

`design.json` is a `StudyDesign`. A `StudyRun` is two lines. The short part is in `runs.jsonl`. The
long part (memory over time, processes) is in `details.jsonl` and is written first. Details without
a run are ignored. `artefacts.study_results.reader` reads the folder,
`artefacts.study_results.store` writes it.
"""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, JsonValue

from heapwright.artefacts.run.measured import ProcessRecord, Run

FORMAT = "heapwright-study"
VERSION = 1
STUDY_FILE = "study.toml"
DESIGN_FILE = "design.json"
RUNS_FILE = "runs.jsonl"
DETAILS_FILE = "details.jsonl"
HOST_FILES = "host-*.json"

OWN_COLUMNS = ("treatment", "block", "position", "host", "warmup", "outcome", "began")
"""Columns of the frame besides factors and responses, which may not be called so."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Factor(_Model):
    """What is varied; `levels` are the names of those that are left on this machine."""

    name: str
    levels: tuple[str, ...]
    values: tuple[float, ...] = ()
    """The levels as numbers, if the factor is quantitative."""
    unit: str = ""
    role: Literal["allocator", "cpus", "parameter"] = "parameter"


class Cell(_Model):
    """One treatment: a level of each factor, and what is run for it."""

    id: str
    levels: dict[str, str]
    """Factor to level."""
    allocator: str = ""
    command: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    """What is set for it besides the preload."""
    prefix: tuple[str, ...] = ()
    cpus: str = ""
    """The processors that it is pinned to, as in 0-3; empty for all."""


class Dropped(_Model):
    """A level that this machine does not have."""

    factor: str
    level: str
    because: str


class Excluded(_Model):
    """How many treatments a constraint leaves out."""

    require: str
    because: str = ""
    count: int


class Measured(_Model):
    """A response: what is measured of each run."""

    name: str
    title: str = ""
    unit: str = ""
    better: Literal["lower", "higher", "none"] = "lower"
    source: str = ""
    """Where it is read: the study's `from`."""
    simulated: bool = False
    """It is counted by a simulation of the machine, not by the machine."""
    scale: Literal["log", "linear"] | None = None
    """On which it is analysed; None: log if all values are above zero."""


class StudyDesign(_Model):
    """What a study came to: the treatments, and how often and in what order each is run."""

    format: str = FORMAT
    version: int = VERSION
    study: str
    title: str = ""
    sha256: str
    """Of the text of `study.toml`."""
    folder: str = ""
    """Of the study file: what relative files in it are in."""
    scale: str = ""
    """The name of the `[scale]` that was run; empty for the study as it stands."""
    seed: int
    blocks: int
    """Measured blocks."""
    discard: int = 0
    """Blocks before them that are kept and not analysed; their numbers are 0 and below."""
    factors: tuple[Factor, ...]
    treatments: tuple[Cell, ...]
    responses: tuple[Measured, ...]
    baseline: str = ""
    """The level of the allocators' factor that ratios refer to; empty if there is none."""
    dropped: tuple[Dropped, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    share: float = 1.0
    """The part of the full factorial that is run."""
    programs: dict[str, str] = {}
    """Of each program that is run, by name: the hash of its file."""
    options: dict[str, JsonValue] = {}
    """The study's `[analysis]`, as it stands."""

    @property
    def planned(self) -> int:
        """Runs of the whole design."""
        return len(self.treatments) * (self.blocks + self.discard)

    @property
    def allocator_levels(self) -> tuple[str, ...]:
        """The levels of the factor that chooses the allocator, in the order of the study."""
        name = self.allocator_factor
        return next((each.levels for each in self.factors if each.name == name), ())

    @property
    def allocator_factor(self) -> str | None:
        """The name of the factor that chooses the allocator."""
        return next((each.name for each in self.factors if each.role == "allocator"), None)


class StudyRun(Run):
    """A run of a study; `level` says which treatment, and the pair with `block` is unique."""

    host: str = ""
    attempt: int = 1
    """How often it was begun by then: a run whose worker was lost is begun again."""
    began: float = 0.0
    """Seconds since 1970, UTC."""
    responses: dict[str, float] = {}
    """By name; empty unless the outcome is ok."""

    @property
    def treatment(self) -> str:
        return self.level

    @property
    def key(self) -> tuple[int, str]:
        return (self.block, self.level)

    def split(self) -> tuple[str, str]:
        """Its line in `details.jsonl`, and its line in `runs.jsonl`; neither says a default."""
        details = self.model_dump_json(include=DETAILS, exclude_defaults=True)
        return details, self.model_dump_json(exclude=LONG, exclude_defaults=True)


LONG = {"rss_series", "processes"}
"""What of a run is in `details.jsonl` alone."""
Identity = tuple[int, str, float]
"""A run of one folder: its block, its treatment, and when it began."""


class Details(_Model):
    """What of a run is long; it is that run's if all of the first three are."""

    level: str
    block: int
    began: float
    rss_series: tuple[tuple[float, int], ...] = ()
    processes: tuple[ProcessRecord, ...] = ()

    @property
    def identity(self) -> Identity:
        return (self.block, self.level, self.began)


DETAILS = set(Details.model_fields)


class Header(_Model):
    """The first line of `runs.jsonl`."""

    format: str
    version: int
    study: str
    sha256: str
    scale: str = ""

    @classmethod
    def of(cls, design: StudyDesign) -> Self:
        return cls(
            format=design.format,
            version=design.version,
            study=design.study,
            sha256=design.sha256,
            scale=design.scale,
        )
