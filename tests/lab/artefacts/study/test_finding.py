# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of findings: what they name, and which make no sense."""

from typing import Any

import pytest
from pydantic import ValidationError

from heapwright.artefacts.study.finding import Finding, Ranking, Ratio

RATIO = {
    "kind": "ratio",
    "response": "time",
    "of": {"allocator": "hoard", "threads": 4},
    "to": {"allocator": "glibc", "threads": 1},
    "above": 1.5,
}


def finding(test: Any, **more: Any) -> Finding:
    return Finding.model_validate({"id": "a", "words": "it is so", "test": test} | more)


def test_one_rule_is_a_list_of_one() -> None:
    assert finding(RATIO).test == finding([RATIO]).test
    assert len(finding([RATIO, RATIO]).test) == 2


def test_levels_are_names_however_they_are_written() -> None:
    (rule,) = finding(RATIO | {"where": {"cpus": [1, 2], "size": 2.0, "pinned": True}}).test
    assert isinstance(rule, Ratio)
    assert rule.of == {"allocator": "hoard", "threads": "4"}
    assert rule.where == {"cpus": ("1", "2"), "size": ("2",), "pinned": ("true",)}


def test_a_rule_lists_the_names_it_uses() -> None:
    (rule,) = finding(RATIO | {"where": {"cpus": [1, 2]}}).test
    assert set(rule.factors()) == {"allocator", "threads", "cpus"}
    assert ("threads", "4") in set(rule.levels())
    assert ("cpus", "2") in set(rule.levels())


def test_an_order_is_of_groups() -> None:
    (rule,) = finding({"kind": "ranking", "response": "time", "order": ["a", ["b", 4]]}).test
    assert isinstance(rule, Ranking)
    assert rule.order == (("a",), ("b", "4"))
    assert set(rule.levels()) == {("allocator", "a"), ("allocator", "b"), ("allocator", "4")}


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ({"kind": "ratio"}, "Field required"),
        ({"kind": "guess", "response": "time"}, "does not match any of the expected tags"),
        (RATIO | {"above": None}, "neither `above` nor `below`"),
        (RATIO | {"above": 2, "below": 1}, "nothing is above the one and below the other"),
        (RATIO | {"to": {"allocator": "glibc"}}, "`of` and `to` name different factors"),
        (RATIO | {"beyond": 1}, "Extra inputs"),
        ({"kind": "ranking", "response": "time"}, "exactly one of"),
        ({"kind": "ranking", "response": "time", "first": "a", "last": "b"}, "exactly one of"),
        ({"kind": "ranking", "response": "time", "order": ["a"]}, "two places at least"),
        ([], "at least 1 item"),
        (
            {"kind": "influence", "response": "time", "factor": "x", "expected": "no"},
            "valid boolean",
        ),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(test: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        finding(test)
    assert said in str(caught.value)


def test_a_finding_has_a_plain_id() -> None:
    with pytest.raises(ValidationError):
        finding(RATIO, id="Not plain")
