# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Levels derived from profiles: the published programs lead to the published levels."""

from collections.abc import Mapping

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.study.file import parse_study
from heapwright.base.errors import HeapwrightError
from heapwright.study.derivation import Derived, Program, derive_levels, rounded
from heapwright.study.derived_text import study_text

EMPTY = Profile.model_validate(
    {
        "provenance": {"duration_s": 1, "events": 1},
        "totals": dict.fromkeys(
            ["allocations", "bytes", "mean_bytes", "frees", "null_frees", "null_free_share"], 0
        )
        | {"never_freed": 0, "never_freed_bytes": 0},
        "sizes": {"distinct": 0, "top10_share": 0, "top": [], "cumulative": [], "histogram": []},
        "routines": {
            name: {"count": 0, "share": 0, "bytes": 0}
            for name in ("malloc", "calloc", "realloc", "aligned")
        },
        "retention": {
            **dict.fromkeys(["short", "medium", "long", "never_freed_share"], 0),
            **dict.fromkeys(["short_count", "medium_count", "long_count"], 0),
            "distribution": [],
        },
        "pattern": {"class": None, "rule": "", "long_lived": []},
        "peak_live_bytes": 0,
        "peak_live_objects": 0,
        "peak": {"time_s": 0, "operation": 0, "live_bytes": 0, "live_objects": 0},
        "timeline": [],
        "threads": [],
        "cross_thread_frees": {"count": 0, "share": 0},
    }
)


def program(
    name: str,
    allocations: int,
    sizes: Mapping[int, float],
    kind: str | None = "peak",
    *,
    long_share: float = 0.2,
    threads: int = 1,
) -> Program:
    """A profile in which a share of the allocations is in the bucket that ends at each size."""
    histogram = [
        {"low": high // 2, "high": high, "count": round(share * allocations), "bytes": 0}
        for high, share in sizes.items()
    ]
    thread = {
        **dict.fromkeys(["process", "bytes", "frees", "freed_elsewhere"], 0),
        **dict.fromkeys(["freed_of_others", "started_s", "ended_s"], 0),
        "allocations": 5,
    }
    document = EMPTY.model_dump(by_alias=True)
    document["totals"]["allocations"] = allocations
    document["sizes"]["histogram"] = histogram
    document["pattern"]["class"] = kind
    document["retention"]["long_count"] = round(long_share * allocations)
    document["threads"] = [{**thread, "thread": number} for number in range(threads)]
    return Program(name, Profile.model_validate(document))


SMALL, MEDIUM, LARGE = {32: 0.8, 256: 0.2}, {256: 0.75, 32: 0.25}, {2048: 0.7, 64: 0.3}
# Costa 2014, tables 5.1 and 5.2; Inkscape makes about half a million there, twelve in another.
PUBLISHED = [
    program("mysql", 467_348, LARGE, "peak", long_share=0.0704),
    program("cherokee", 31_727, MEDIUM, "peak", long_share=0.0956),
    program("codeblocks", 12_412_302, MEDIUM, "growing", long_share=0.1431),
    program("vlc-audio", 138_747, {64: 0.29, 512: 0.28, 2048: 0.43}, "peak", long_share=0.1599),
    program("vlc-video", 1_513_223, SMALL, "growing", long_share=0.3328),
    program("octave", 579_606, SMALL, "growing", long_share=0.2070),
    program("inkscape", 500_000, SMALL, "peak", long_share=0.0627),
    program("lynx", 31_303, SMALL, "growing", long_share=0.5698),
]


def test_the_published_programs_give_the_published_levels() -> None:
    derived = derive_levels(PUBLISHED)
    groups = [(each.value, set(each.programs)) for each in derived.allocations]
    # Published: 500,000, 1,000,000 (of 1.5 million, rounded down) and 10,000,000.
    assert groups == [
        (500_000, {"octave", "inkscape", "mysql"}),
        (2_000_000, {"vlc-video"}),
        (10_000_000, {"codeblocks"}),
    ]
    assert [set(each.programs) for each in derived.fewer] == [{"lynx", "cherokee"}, {"vlc-audio"}]
    assert [(each.name, set(each.programs)) for each in derived.sizes] == [
        ("1..64", {"octave", "lynx", "inkscape", "vlc-video"}),
        ("64..512", {"codeblocks", "cherokee"}),
        ("512..2048", {"mysql"}),
    ]
    assert derived.spread == ("vlc-audio",)
    assert set(derived.patterns) == {"peak", "growing"}
    assert derived.long_percent == 21  # the mean of the published shares; published: 20


def test_a_derived_study_is_valid() -> None:
    text = study_text(derive_levels(PUBLISHED), "derived")
    study = parse_study(text).study
    assert study.workload == "uma-test"
    assert study.factors["allocations"].names == ("500000", "2000000", "10000000")
    assert study.factors["size"].items[1].keys == {"least": 64, "most": 512}
    assert study.factors["pattern"].names == ("peak", "growing")
    assert '"--long", "21"' in text
    assert "# mysql, octave, inkscape" in text or "# mysql, inkscape, octave" in text
    assert "# 70 % of the sizes lie in no one range: vlc-audio" in text
    small = parse_study(text, scale="small").study
    assert small.factors["allocations"].names == ("500000",)


def derived_from(*programs: Program) -> Derived:
    return derive_levels(programs)


def test_programs_in_no_range_have_one_together_if_there_is_no_other() -> None:
    spread = program("spread", 1000, {64: 0.3, 512: 0.3, 2048: 0.4})
    assert [each.name for each in derived_from(spread).sizes] == ["64..2048"]
    wide = program("wide", 1000, {64: 0.5, 1 << 30: 0.5})
    assert [each.name for each in derived_from(wide).sizes] == ["1..1048576"]


def test_threads_are_powers_of_two_up_to_the_most_and_two_at_least() -> None:
    assert derived_from(program("one", 1000, SMALL)).threads == (1, 2)
    assert derived_from(program("five", 1000, SMALL, threads=5)).threads == (1, 2, 4, 8)
    many = derived_from(program("many", 1000, SMALL, threads=1000))
    assert many.threads[-1] == 64


def test_without_long_lived_blocks_the_pattern_is_peak() -> None:
    derived = derived_from(program("short", 1000, SMALL, None, long_share=0))
    assert derived.patterns == {"peak": ()}
    assert derived.long_percent == 0
    assert parse_study(study_text(derived, "x")).study.factors["pattern"].names == ("peak",)


def test_a_program_that_allocates_nothing_is_refused() -> None:
    with pytest.raises(HeapwrightError, match="silent: a program that allocates nothing"):
        derived_from(program("one", 1000, SMALL), program("silent", 0, SMALL))


def test_a_name_with_a_line_break_is_no_line() -> None:
    text = study_text(derived_from(program("a\nb", 1000, SMALL)), "x")
    assert "# a?b" in text
    assert parse_study(text).study.name == "x"


@pytest.mark.parametrize(
    ("value", "level"), [(1, 1), (1.5, 2), (3, 2), (3.2, 5), (7, 5), (7.1, 10), (52e4, 500_000)]
)
def test_levels_are_rounded_by_ratio(value: float, level: int) -> None:
    assert rounded(value) == level
