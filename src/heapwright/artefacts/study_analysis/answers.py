# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What became of published findings: a part of the document of `heapwright analyse`.

Made by `analysis.findings`; docs/reference/findings.md says how each figure comes about.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from heapwright.artefacts.study_analysis.terms import Frozen


class Answer(StrEnum):
    """Whether a finding is so here."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNKNOWN = "cannot be told"


class Figure(Frozen):
    """One figure of a rule, with its interval and its required value."""

    what: Annotated[str, Field(description="As in: time of tcmalloc over that of jemalloc")]
    value: float | None
    low: Annotated[
        float | None, Field(description="Simultaneous over the figures of the finding")
    ] = None
    high: float | None = None
    unit: str = ""
    above: Annotated[float | None, Field(description="What the rule asks; null: nothing")] = None
    below: float | None = None
    verdict: Answer
    blocks: int = 0
    needed: Annotated[
        int | None,
        Field(description="Blocks that would decide it, if it stays; null: decided, or none would"),
    ] = None
    why: Annotated[str, Field(description="Why it is undecided, or what was left out")] = ""


class FindingResult(Frozen):
    """A finding: what was published, and what is found here."""

    id: str
    words: str
    source: str = ""
    verdict: Answer
    published: Annotated[str, Field(description="The figure as it was printed")] = ""
    ours: Annotated[str, Field(description="The measured figures, in words")] = ""
    why: Annotated[str, Field(description="The figure that decides, or what is missing")] = ""
    needed: Annotated[
        int | None, Field(description="Blocks that would decide it; null as for a figure")
    ] = None
    today: Annotated[
        str, Field(description="What is otherwise now, and what stands for what was there")
    ] = ""
    figures: tuple[Figure, ...] = ()
