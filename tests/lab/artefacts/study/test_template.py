# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Templates: everything is filled in, or it is an error."""

import pytest

from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.template import TemplateError, fill, places

LEVELS = {
    "threads": Level("4", 4),
    "half": Level("0.5", 0.5),
    "pinned": Level("true", True),
    "size": Level("16..64", None, {"low": 16, "high": 64.0}),
    "wide": Level("wide", 40, {}),
}


def filled(template: str) -> str:
    return fill(template, LEVELS, programs=lambda name: f"/bin/{name}", others={"folder": "/s"})


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("--threads={threads}", "--threads=4"),
        ("{half}{pinned}", "0.5true"),
        ("{size}, {size.name}: {size.low}-{size.high}", "16..64, 16..64: 16-64"),
        ("{wide} {wide.name}", "40 wide"),
        ("{workload:uma-test} {folder}/x", "/bin/uma-test /s/x"),
        ("{{{threads}}} }}{{", "{4} }{"),
        ("", ""),
    ],
)
def test_templates_that_are_filled_in(template: str, text: str) -> None:
    assert filled(template) == text


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{", "stands alone"),
        ("a}b", "stands alone"),
        ("{{threads}", "stands alone"),
        ("{}", "no name"),
        ("{size.low.high}", "no name"),
        ("{threads!r}", "no name"),
        ("{0}", "no name"),
        ("{thread}", "no factor 'thread'"),
        ("{size.mid}", "has no 'mid'"),
        ("{threads.low}", "has no 'low'"),
    ],
)
def test_a_template_without_a_value_is_an_error(template: str, why: str) -> None:
    with pytest.raises(TemplateError, match=why):
        filled(template)


def test_a_level_is_not_a_template_again() -> None:
    levels = {"a": Level("{b}", "{b}"), "b": Level("1", 1)}
    assert fill("{a}", levels, programs=str) == "{b}"


def test_the_places_of_a_template() -> None:
    found = list(places("{size.low} {{x}} {threads} {workload: larson}"))
    assert [(each.factor, each.key, each.workload) for each in found] == [
        ("size", "low", ""),
        ("threads", "", ""),
        ("", "", "larson"),
    ]
