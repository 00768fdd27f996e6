# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The profile's document. Its schema is the published one, and its page describes every part."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from heapwright.artefacts.profile.document import Pattern, Profile

DOCS = Path(__file__).parents[4] / "docs"


def test_the_page_documents_every_part() -> None:
    page = (DOCS / "reference" / "profile.md").read_text(encoding="utf-8")
    told = {"format", "schema_version", "heapwright_version"}
    assert {name for name in Profile.model_fields if f"`{name}`" not in page} == told


def test_the_field_of_the_pattern_is_named_class() -> None:
    pattern = Pattern(kind="peak", rule="a rule", long_lived=((1000, 3),))
    written = pattern.model_dump_json(by_alias=True)
    assert json.loads(written)["class"] == "peak"
    assert Pattern.model_validate_json(written) == pattern


@pytest.mark.parametrize("change", [{"class": "some"}, {"densest_third": 1.5}, {"more": 1}])
def test_an_invalid_pattern_is_refused(change: dict[str, object]) -> None:
    good: dict[str, object] = {"class": None, "rule": "", "long_lived": []}
    Pattern.model_validate(good)
    with pytest.raises(ValidationError):
        Pattern.model_validate({**good, **change})
