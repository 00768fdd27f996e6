# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The document of drag. Its schema is the published one, and its page describes every part."""

import json
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from heapwright.artefacts.drag.document import Drag, Provenance, Site

DOCS = Path(__file__).parents[4] / "docs"
GOOD = {
    "provenance": {"command": ["a"], "means": "valgrind"},
    "total_drag": 1.5,
    "peak_increase": 1.0,
    "allocated_bytes": 10,
    "objects": 1,
    "held_area": 3 * 10**40,
    "needed_area": 2 * 10**40,
    "peak_held": {"bytes": 10, "at": 10},
    "peak_needed": {"bytes": 10, "at": 10},
    "never_freed": {"objects": 0, "bytes": 0},
    "never_accessed": {"objects": 0, "bytes": 0},
    "curves": {"allocated": [0], "held": [10], "needed": [10]},
    "sites": [],
}


@pytest.mark.parametrize("model", [Drag, Provenance, Site])
def test_the_page_documents_every_part(model: type[BaseModel]) -> None:
    page = (DOCS / "reference" / "drag.md").read_text(encoding="utf-8")
    told = {"format", "schema_version", "heapwright_version"}
    assert {name for name in model.model_fields if f"`{name}`" not in page} <= told


def test_areas_of_any_length_are_kept() -> None:
    drag = Drag.model_validate(GOOD)
    again = Drag.from_json(drag.to_json())
    assert again == drag
    assert again.held_area == 3 * 10**40
    assert json.loads(drag.to_json())["total_drag"] == 1.5


@pytest.mark.parametrize(
    "change",
    [
        {"total_drag": 0.9},
        {"objects": -1},
        {"more": 1},
        {"curves": {"allocated": [0, 1], "held": [10], "needed": [10]}},
        {"provenance": {"command": ["a"], "means": "guessing"}},
        {"format": "heapwright profile"},
    ],
)
def test_a_file_without_drag_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Drag.model_validate({**GOOD, **change})
