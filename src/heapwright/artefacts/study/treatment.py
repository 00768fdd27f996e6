# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A treatment of a study: one level of every factor, and what that means for the run.

Its id depends on the names of its levels only. It is the same in every run of a study, even if
other levels are added or reordered.
"""

import hashlib
import json
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

ID_DIGITS = 12

Value = bool | int | float | str


class StudyTreatment(BaseModel):
    """What is run, filled in: no template is left in it but {report} and {command} of a measure,
    and {block} of a command."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    levels: dict[str, str]
    """Factor → name of the level, in the order of the study's factors."""
    values: dict[str, Value | dict[str, Value]]
    """Factor → what templates stand for: the value, or the keys of the level's table."""
    allocator: str | None = None
    """A name of the registry or a path; None: nothing is chosen, the run has what it has."""
    preload: bool = True
    """False: the program has the allocator in itself; nothing is preloaded or proven."""
    command: tuple[str, ...] = ()
    """Empty if a trace is replayed."""
    trace: str | None = None
    """The file, or synth:NAME."""
    program: str | None = None
    """A name, or a file."""
    parameters: dict[str, str] = {}
    """Of the program, as texts."""
    prefix: tuple[str, ...] = ()
    """Words before the command, split already: the study's, then those of the levels."""
    environment: dict[str, str] = {}
    """The study's variables, then those of the levels."""
    cpus: int | None = None
    """Number of processors that it is confined to; None: all."""
    stdin: str | None = None
    cwd: str | None = None


def treatment_id(levels: Mapping[str, str]) -> str:
    """A short hash of factor → level name."""
    text = json.dumps(sorted(levels.items()), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:ID_DIGITS]
