# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The taxonomy's document: it reads back what it wrote, and its schema is the published one."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from heapwright.artefacts.run.provenance import Kind
from heapwright.artefacts.taxonomy.document import Row, Sharing

DOCS = Path(__file__).parents[4] / "docs"


def row(active: bool | None, passive: bool | None) -> Row:
    return Row(
        allocator="a",
        kind=Kind.COMPOSED,
        fast=None,
        scalable=True,
        false_sharing=Sharing(active=active, passive=passive),
        blowup="none",
    )


def test_a_row_has_the_keys_that_are_documented() -> None:
    written = json.loads(row(False, False).model_dump_json())
    assert written["false_sharing"] == {"active": False, "passive": False}
    assert (written["fast"], written["scalable"], written["blowup"]) == (None, True, "none")
    page = (DOCS / "reference" / "taxonomy.md").read_text(encoding="utf-8")
    assert {key for key in written if f"`{key}`" not in page} == set()


def test_a_row_reads_back() -> None:
    assert Row.model_validate_json(row(True, None).model_dump_json()) == row(True, None)
    with pytest.raises(ValidationError):
        Row.model_validate({**row(True, None).model_dump(), "blowup": "some"})


@pytest.mark.parametrize(
    ("active", "passive", "avoids"),
    [(False, False, True), (True, None, False), (None, False, None), (False, True, False)],
)
def test_one_way_is_enough_to_share(
    active: bool | None, passive: bool | None, avoids: bool | None
) -> None:
    assert row(active, passive).avoids_false_sharing is avoids
