# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The levels of a document as comparisons of their own."""

from heapwright.artefacts.comparison.document import (
    Comparison,
    Design,
    Effect,
    Level,
    TreatmentInfo,
    Verdict,
    label_of,
)
from heapwright.artefacts.comparison.levels import joined, parameter_text, parts, views
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Kind
from support.documents import made

KEYS = [
    (allocator, joined(name, f"t={value}"))
    for value in ("1", "10")
    for allocator, name in (("", "old"), ("", "new"), ("glibc", ""))
]


def document() -> Comparison:
    infos = [
        TreatmentInfo(
            allocator=key[0],
            level=key[1],
            label=label_of(*key),
            kind=Kind.SYSTEM,
            parameters={"t": key[1].rpartition("=")[2]},
        )
        for key in KEYS
    ]
    runs = [
        Run(allocator=key[0], level=key[1], block=1, position=1, outcome=Outcome.OK, wall_s=1.0)
        for key in KEYS
    ]
    effects = [
        made(Effect, allocator=key[0], level=key[1], response="time", ratio=1.0, runs=1)
        for key in KEYS
    ]
    levels = [
        made(
            Level,
            parameters={"t": value},
            baseline="old",
            verdict=made(Verdict, action="stay", allocator="", level="old", reason=f"at {value}"),
        )
        for value in ("1", "10")
    ]
    return made(
        Comparison,
        schema_version=2,
        design=made(Design, baseline="old, t=1", stopped_because="done", confidence=0.95, margin=0),
        treatments=infos,
        runs=runs,
        effects=effects,
        levels=levels,
    )


def test_the_text_of_a_level() -> None:
    assert joined("old", "", "t=1") == "old, t=1"
    assert parameter_text({"t": "1", "size": "2"}) == "t=1, size=2"


def test_each_level_is_a_comparison_without_the_parameters() -> None:
    (first, one), (second, other) = views(document())
    assert (first, second) == ("t=1", "t=10")
    for view, value in ((one, "1"), (other, "10")):
        assert [each.label for each in view.treatments] == ["old", "new", "glibc"]
        assert [(run.allocator, run.level) for run in view.runs] == [
            ("", "old"), ("", "new"), ("glibc", ""),
        ]  # fmt: skip
        assert view.effect(("glibc", ""), "time") is not None
        assert view.design.baseline == "old"
        assert view.verdict.reason == f"at {value}"
        assert not view.levels


def test_a_part_knows_the_keys_of_the_document() -> None:
    whole = document()
    _, part = parts(whole.treatments, whole.runs)
    assert part.keys["", "old, t=10"] == ("", "old")
    assert part.keys["glibc", "t=10"] == ("glibc", "")


def test_without_levels_the_view_is_the_document() -> None:
    whole = document().model_copy(update={"levels": ()})
    assert views(whole) == [("", whole)]


def test_a_document_with_levels_is_read_back() -> None:
    whole = document()
    assert Comparison.from_json(whole.to_json()) == whole
