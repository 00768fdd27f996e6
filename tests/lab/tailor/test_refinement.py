# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The sentences around a sentence: one parameter differs, and the code is new."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import pytest

from heapwright.tailor import reasons
from heapwright.tailor.figures import DEPTHS
from heapwright.tailor.grammar import KIB, NEVER, Core, Sentence
from heapwright.tailor.header import digest_of, header_of
from heapwright.tailor.proposals import propose
from heapwright.tailor.refinement import MOST_NEIGHBOURS, derived, neighbours, variants

from .builders import all_sentences, compiled, figures, with_sites

FIGURES = figures(threads=4, peak_mib=64)
CACHES = next(each for each in propose(FIGURES) if each.name == "caches-16")
DEPENDENT: Mapping[str, set[str]] = {
    "pages": {"huge_pages", "chunk"},
    "large": {"large", "classes"},
    "block": {"block", "large"},
    "purge": {"purge_ms"},
}
"""The fields that a step changes, if it is not the field of its name alone."""


def names(found: tuple[Sentence, ...]) -> list[str]:
    return [each.name for each in found]


def slot_of(neighbour: Sentence, of: Sentence) -> str:
    return neighbour.name.removeprefix(f"{of.name}-").rpartition("-")[0]


@pytest.mark.parametrize("sentence", all_sentences(), ids=lambda each: each.name)
def test_one_parameter_differs(sentence: Sentence) -> None:
    found = neighbours(sentence, FIGURES)
    assert 1 <= len(found) <= MOST_NEIGHBOURS
    assert len({digest_of(each) for each in (sentence, *found)}) == len(found) + 1
    for each in found:
        changed = {
            field.name
            for field in fields(Sentence)
            if getattr(each, field.name) != getattr(sentence, field.name)
        }
        slot = slot_of(each, sentence)
        assert changed - {"name", "reasons"} <= DEPENDENT.get(slot, {slot})


def test_what_was_tried_makes_room_for_the_less_promising() -> None:
    program = replace(FIGURES, hits={each: each * 10 for each in DEPTHS})
    program.counts = program.counts + Counter({10_000: 500})
    first = neighbours(CACHES, program)
    assert len(first) == MOST_NEIGHBOURS
    tried = [digest_of(each) for each in first[:2]]
    again = neighbours(CACHES, program, tried)
    assert names(again)[:4] == names(first)[2:]
    assert len(again) > 4


def test_the_most_promising_is_first() -> None:
    """A deeper list that serves a fifth more of the requests, and then one that serves none."""
    lean = next(each for each in propose(FIGURES) if each.name == "caches-8-lean")
    assert names(neighbours(lean, replace(FIGURES, peak_bytes=1 << 20)))[0].endswith("-depth-16")
    flat = replace(FIGURES, hits=dict.fromkeys(DEPTHS, 40_000))
    assert not any("depth-16" in name for name in names(neighbours(lean, flat)))


def test_the_changed_step_states_its_figures() -> None:
    found = {slot_of(each, CACHES): each for each in neighbours(CACHES, FIGURES)}
    never = next(each for each in neighbours(CACHES, FIGURES) if each.purge_ms == NEVER)
    assert never.reasons["purge"] == reasons.purge(FIGURES, NEVER, huge=False)
    assert found["depth"].reasons["depth"] == reasons.depth(FIGURES, found["depth"].depth)
    text = " ".join(header_of(found["pages"], "job", ()).replace("//", "").split())
    assert "after a second without use. The live memory falls" in text
    assert "again 3 times. Huge pages: 64.0 MiB are live" in text


def test_a_longer_delay_is_tried_only_for_memory_that_rises_again() -> None:
    flat = replace(FIGURES, rises=0)
    delays = [
        {each.purge_ms for each in neighbours(CACHES, program)} for program in (FIGURES, flat)
    ]
    assert delays[0] - delays[1] == {NEVER}


def test_another_limit_has_classes_up_to_it() -> None:
    program = figures()
    program.counts[20_000] = 500
    lists = next(each for each in propose(program) if each.core == "lists")
    limits = {each.large: each for each in neighbours(lists, program) if each.large != lists.large}
    assert limits
    for limit, each in limits.items():
        assert each.classes[-1] == limit + 16
        assert f"these {len(each.classes)} waste" in each.reasons["classes"]


def test_more_classes_waste_less_and_fewer_waste_more() -> None:
    program = figures()
    lists = next(each for each in propose(program) if each.core == "lists")
    found = [each for each in neighbours(lists, program) if slot_of(each, lists) == "classes"]
    assert found
    for each in found:
        assert each.name == f"{lists.name}-classes-{len(each.classes)}"
        assert len(each.classes) != len(lists.classes)


def test_a_large_object_of_a_cache_fits_half_a_superblock() -> None:
    for each in (
        *neighbours(CACHES, FIGURES),
        *neighbours(replace(CACHES, block=8 * KIB), FIGURES),
    ):
        assert each.large <= max(each.block // 2, CACHES.large if each.block == 8 * KIB else 0)


def test_a_name_leads_back_to_its_sentence() -> None:
    proposals = propose(FIGURES)
    for first in proposals:
        for second in neighbours(first, FIGURES):
            for third in neighbours(second, FIGURES, [digest_of(first)]):
                found = derived(proposals, third.name, FIGURES)
                assert found is not None
                assert digest_of(found) == digest_of(third)
    assert derived(proposals, "caches-16-depth-17", FIGURES) is None
    assert derived(proposals, "caches-1", FIGURES) is None


def test_the_variants_of_a_sentence_are_its_neighbours() -> None:
    found = variants(CACHES, FIGURES, ())
    assert found.replayed == neighbours(CACHES, FIGURES)
    tried = {digest_of(each) for each in found.replayed}
    assert not tried & {digest_of(each) for each in variants(CACHES, FIGURES, tried).replayed}


@pytest.mark.compiles
@pytest.mark.parametrize("core", ["lists", "fit", "superblocks", "owner-caches"])
def test_the_neighbours_of_each_kind_compile(core: Core, tmp_path: Path) -> None:
    program = figures(peak_mib=64)
    sentence = next(each for each in propose(program) if each.core == core)
    answer = compiled(neighbours(sentence, program), tmp_path)
    assert answer.valid, answer.pages[:3000]


@pytest.mark.slow
def test_every_neighbour_of_a_neighbour_compiles(tmp_path: Path) -> None:
    found = [
        further
        for program in (figures(threads, peak_mib) for threads in (1, 4) for peak_mib in (1, 64))
        for sentence in propose(program)
        for each in neighbours(sentence, program)
        for further in (each, *neighbours(each, program))
    ]
    answer = compiled(found, tmp_path)
    assert answer.valid, answer.pages[:3000]


def test_heaps_for_call_sites_race_at_once_and_are_derived_by_name() -> None:
    program = with_sites(figures())
    sentence = propose(program)[0]
    found = variants(sentence, program, ()).raced
    assert len(found) == 4
    assert variants(sentence, program, {digest_of(found[0])}).raced == found[1:]
    assert derived([sentence], found[-1].name, program) == found[-1]
    assert variants(found[0], program, ()).raced == ()
