# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Published judgements beside measured ones, with reasons for differences.

`published.toml` holds the rows of the published tables, which allocator follows which of them, and
an explanation for each disagreement that is understood. A disagreement without one is reported: it
is a finding, or an error of heapwright.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from heapwright.artefacts.taxonomy.document import (
    Blowup,
    Column,
    Design,
    Disagreement,
    Published,
    Row,
    Tick,
)

BOOK = Path(__file__).with_name("published.toml")
WORDS: dict[Blowup, str] = {"none": "none", "linear": "O(P)", "unbounded": "unbounded"}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Claim(_Record):
    """A row of a published table, and which allocators follow it."""

    source: str
    algorithm: str
    allocators: tuple[str, ...]
    fast: Tick | None = None
    scalable: Tick | None = None
    avoids_false_sharing: Tick | None = None
    blowup: Blowup | None = None


class Made(_Record):
    """A row of the table of designs, for allocators that do not describe themselves."""

    allocators: tuple[str, ...]
    local_memory: str
    splits_and_coalesces: bool
    metadata_in_block: bool
    classes_separated: str
    blowup_prevented_by: str


class Explanation(_Record):
    """Why allocators of these names measure otherwise in one column."""

    allocators: tuple[str, ...]
    column: Column
    measured: str
    text: str


class Book(_Record):
    """The whole file."""

    claim: tuple[Claim, ...]
    design: tuple[Made, ...]
    explanation: tuple[Explanation, ...] = ()


@cache
def book() -> Book:
    return Book.model_validate(tomllib.loads(BOOK.read_text(encoding="utf-8")))


def published_of(allocator: str) -> Published | None:
    """What is published of the algorithm that `allocator` follows."""
    for claim in book().claim:
        if allocator in claim.allocators:
            return Published.model_validate(claim.model_dump(exclude={"allocators"}))
    return None


def published_design(allocator: str) -> Design | None:
    for made in book().design:
        if allocator in made.allocators:
            return Design.model_validate(
                {"source": "published", **made.model_dump(exclude={"allocators"})}
            )
    return None


def ticks(row: Row) -> dict[Column, str]:
    """What was measured, in the words of the table; "" where nothing could be said."""
    return {
        "fast": _word(row.fast),
        "scalable": _word(row.scalable),
        "avoids false sharing": _word(row.avoids_false_sharing),
        "blowup": WORDS[row.blowup] if row.blowup else "",
    }


def claims(published: Published | None) -> dict[Column, str]:
    """What is published, in the same words; "" where nothing is."""
    if published is None:
        return {}
    return {
        "fast": published.fast or "",
        "scalable": published.scalable or "",
        "avoids false sharing": published.avoids_false_sharing or "",
        "blowup": WORDS[published.blowup] if published.blowup else "",
    }


def disagreements(row: Row) -> Iterator[Disagreement]:
    """The columns where both say something and not the same; "maybe" agrees with all."""
    measured = ticks(row)
    for column, claim in claims(row.published).items():
        said = measured[column]
        if claim and said and claim not in ("maybe", said):
            text = explanation_of(row.allocator, column, said)
            yield Disagreement(column=column, published=claim, measured=said, explanation=text)


def explanation_of(allocator: str, column: Column, measured: str) -> str:
    for each in book().explanation:
        if allocator in each.allocators and (each.column, each.measured) == (column, measured):
            return " ".join(each.text.split())
    return ""


def _word(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
