# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a study: its schema is the published one, and its levels have names."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.study.factor import Factor, scalar_text
from heapwright.artefacts.study.file import parse_study
from heapwright.artefacts.study.model import schema_text
from heapwright.artefacts.study.treatment import treatment_id

ROOT = Path(__file__).parents[4]
OTHERS = {"finding", "published", "choice", "care", "bar"}
"""What docs/reference/findings.md documents."""


def keys(schema: dict[str, Any], node: dict[str, Any], name: str = "") -> Iterator[str]:
    """Every key that a study file may have, outside of what is documented elsewhere."""
    if name in OTHERS:
        return
    if "$ref" in node:
        yield from keys(schema, schema["$defs"][node["$ref"].rpartition("/")[2]], name)
    for key, inner in node.get("properties", {}).items():
        yield key
        yield from keys(schema, inner, key)
    inside = [node.get("items"), node.get("additionalProperties"), *node.get("anyOf", ())]
    for inner in inside:
        if isinstance(inner, dict):
            yield from keys(schema, inner, name)


def test_the_reference_study_and_the_page_have_every_key() -> None:
    schema = json.loads(schema_text())
    every = set(keys(schema, schema))
    assert {"command", "share", "ready", "variable", "because", "last_number"} <= every
    reference = (ROOT / "catalogue" / "studies" / "reference.toml").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "reference" / "study.md").read_text(encoding="utf-8")
    assert {key for key in every if key not in reference} == set()
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    code = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", prose))))
    assert {key for key in every if key not in code} == set()


def test_the_example_of_the_page_is_a_study() -> None:
    page = (ROOT / "docs" / "reference" / "study.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert parse_study(example, "docs/reference/study.md").study.workload == "larson"


@pytest.mark.parametrize(
    ("value", "text"),
    [(4, "4"), (4.0, "4"), (0.5, "0.5"), (1e20, "1e+20"), (True, "true"), ("a b", "a b")],
)
def test_a_value_has_a_name(value: bool | int | float | str, text: str) -> None:
    assert scalar_text(value) == text


def test_levels_in_one_form() -> None:
    factor = Factor.model_validate(
        {"levels": [1, 2.5, {"name": "many", "value": 64, "low": 3, "set": {"A": "{x}"}}]}
    )
    one, half, many = factor.items
    assert (one.name, one.plain, one.number) == ("1", 1, 1.0)
    assert (half.name, half.number) == ("2.5", 2.5)
    assert (many.plain, many.keys, many.environment) == (64, {"low": 3}, {"A": "{x}"})
    assert factor.names == ("1", "2.5", "many")
    assert factor.is_quantitative


def test_a_boolean_is_not_a_quantity() -> None:
    assert not Factor.model_validate({"levels": [True, False]}).is_quantitative


def test_a_knobs_value_is_no_template() -> None:
    factor = Factor.model_validate({"levels": ["a:{b}"], "variable": "CONF"})
    assert factor.items[0].environment == {"CONF": "a:{{b}}"}


def test_a_treatment_is_known_by_its_levels_in_any_order() -> None:
    assert treatment_id({"a": "1", "b": "2"}) == treatment_id({"b": "2", "a": "1"})
    assert treatment_id({"a": "1", "b": "2"}) != treatment_id({"a": "2", "b": "1"})
    # Older results are joined by it: another hash would be another treatment.
    assert treatment_id({"threads": "1"}) == "c8afda2c4a7b"
