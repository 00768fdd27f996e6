# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The document of granary's statistics. Its schema is the published one, its page describes it."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from heapwright.artefacts.allocator.granary_statistics import (
    Caches,
    Chunks,
    GranaryStatistics,
    Large,
    Locks,
    SizeClass,
    System,
    ThreadCache,
)

DOCS = Path(__file__).parents[4] / "docs"
NONE = '{"objects":0,"bytes":0,"remote_objects":0,"remote_bytes":0,"refills":0,"flushes":0}'
GOOD = (
    '{"format":"heapwright granary statistics","schema_version":1,"allocator":"granary",'
    '"heapwright_version":"0.1.0","process":7,"settings":{"return":"250ms"},'
    '"live":{"objects":1,"bytes":16},"cached":{"objects":0,"bytes":0},'
    '"free":{"objects":1,"bytes":16},"superblock_bytes":32768,"heaps":1,'
    '"classes":[{"class":0,"size":16,"live":1,"cached":0,"free":1,"superblocks":1,'
    '"held_bytes":32768,"returned_superblocks":0}],'
    '"large":{"objects":0,"bytes":0,"direct_objects":0,"direct_bytes":0},'
    '"caches":{"threads":0,"all":' + NONE + ',"each":[]},'
    '"chunks":{"count":1,"bytes":4,"used_bytes":1,"dirty_bytes":1,"clean_bytes":2},'
    '"system":{"mapped_bytes":4,"maps":1,"mapped_bytes_ever":4,"unmaps":0,'
    '"unmapped_bytes_ever":0,"purges":0,"purged_bytes_ever":0,"moves":0},'
    '"locks":{"heaps":{"takes":1,"waits":0},"shared":{"takes":1,"waits":0},'
    '"chunks":{"takes":1,"waits":0}}}'
)


def test_a_line_is_read() -> None:
    found = GranaryStatistics.from_json(GOOD)
    assert found.classes[0].number == 0
    assert found.system.mapped_bytes == 4


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ('"process":7', '"process":0'),
        ('"live":1', '"live":-1'),
        ('"heaps":1', '"heaps":1,"heaps_more":1'),
        ('"schema_version":1', '"schema_version":2'),
        ('"moves":0}', '"moves":0'),
    ],
)
def test_an_invalid_line_is_refused(what: str, instead: str) -> None:
    with pytest.raises(ValidationError):
        GranaryStatistics.from_json(GOOD.replace(what, instead, 1))


@pytest.mark.parametrize(
    "model", [GranaryStatistics, SizeClass, Large, Caches, ThreadCache, Chunks, System, Locks]
)
def test_the_page_documents_every_field(model: type[BaseModel]) -> None:
    page = (DOCS / "reference" / "granary.md").read_text(encoding="utf-8")
    names = {field.alias or name for name, field in model.model_fields.items()}
    told = {"format", "schema_version", "heapwright_version"}
    assert {name for name in names if f"`{name}`" not in page} <= told
