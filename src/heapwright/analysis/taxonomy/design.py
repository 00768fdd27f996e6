# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How an allocator is made, from the type of its composition (after Fischer 2018, table 2.1).

Each layer that decides one of the columns has a line in `layers.toml`; the rest decide nothing. The
first layer with a line for a column decides it, on the path of a small request from the top. If a
layer chooses between several heaps, the file states which of them gets the small requests. What an
allocator does against blowup is the first that it does, in the order of the layers.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from heapwright.artefacts.taxonomy.document import Design

FACTS = Path(__file__).with_name("layers.toml")
ONE_HEAP = "nowhere: one heap for all"
NO_NEED = "one heap for all"
NOTHING = "nothing"
WAYS: tuple[Literal["physically", "logically"], ...] = ("physically", "logically")
"""Classes with memory of their own stay separate, with any lists above them."""


class Layer(BaseModel):
    """One layer of the description that a library gives of its own type."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    layer: str
    policies: tuple[str, ...] = ()
    below: tuple["Layer", ...] = ()


class Fact(BaseModel):
    """The meaning of a layer on the path of a small request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    layer: str
    policy: str = ""
    """Only where one of its policies has this name, or stands around one that has it."""
    small: int | None = None
    """Which of the heaps below gets the small requests; without it, the last."""
    local_memory: str = ""
    splits_and_coalesces: bool = False
    metadata_in_block: bool | None = None
    classes_separated: Literal["physically", "logically"] | None = None
    blowup_prevented_by: str = ""


def design_of(composition: JsonValue) -> Design | None:
    """The columns of a composition; None for an allocator without a description."""
    try:
        top = Layer.model_validate(composition)
    except ValidationError:
        return None
    facts = [fact for layer in _way(top) for fact in facts_of(layer)]
    local = next((fact.local_memory for fact in facts if fact.local_memory), "")
    metadata = next((f.metadata_in_block for f in facts if f.metadata_in_block is not None), False)
    separated = {fact.classes_separated for fact in facts}
    prevented = next((f.blowup_prevented_by for f in facts if f.blowup_prevented_by), "")
    return Design(
        source="composition",
        local_memory=local or ONE_HEAP,
        splits_and_coalesces=any(fact.splits_and_coalesces for fact in facts),
        metadata_in_block=metadata,
        classes_separated=next((way for way in WAYS if way in separated), "not at all"),
        blowup_prevented_by=prevented or (NOTHING if local else NO_NEED),
    )


def _way(layer: Layer) -> Iterator[Layer]:
    """The layers that a small request falls through, and the heaps beside it that keep objects."""
    yield layer
    chosen = next((fact.small for fact in facts_of(layer) if fact.small is not None), -1)
    if layer.below:
        yield from _way(layer.below[chosen])


def facts_of(layer: Layer) -> list[Fact]:
    """What is written of it."""
    return [
        fact
        for fact in _facts()
        if fact.layer == layer.layer
        and (not fact.policy or any(fact.policy in re.findall(r"\w+", p) for p in layer.policies))
    ]


@cache
def _facts() -> list[Fact]:
    text = FACTS.read_text(encoding="utf-8")
    return TypeAdapter(list[Fact]).validate_python(tomllib.loads(text)["layer"])
