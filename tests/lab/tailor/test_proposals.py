# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is proposed for a program, and how it is written."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.base.quantities import size as bytes_text
from heapwright.tailor.figures import Figures, together
from heapwright.tailor.grammar import KIB, NEVER, Sentence
from heapwright.tailor.header import digest_of, header_of, type_of
from heapwright.tailor.proposals import chosen_classes, enough_depth, large_limit, propose
from heapwright.tailor.size_classes import blocks_of, waste_of

from .builders import all_sentences, compiled, figures


def test_one_thread_gets_a_lock_and_several_get_caches() -> None:
    alone = {each.name: each for each in propose(figures(1))}
    several = {each.name: each for each in propose(figures(4))}
    assert any(name.startswith("fit-") for name in alone)
    assert not any(name.startswith("fit-") for name in several)
    for name, sentence in several.items():
        if name.startswith("lists-"):
            assert "ThreadCacheHeap" in str([step.type for step in sentence.steps()])


def test_huge_pages_are_proposed_for_a_large_heap_only() -> None:
    assert not any(each.huge_pages for each in propose(figures(peak_mib=1)))
    assert any(each.huge_pages for each in propose(figures(peak_mib=64)))


def test_the_limit_leaves_few_large_requests() -> None:
    assert large_limit(figures()) == 8192


def test_the_depth_is_the_least_that_serves_almost_all() -> None:
    assert enough_depth(figures()) == 16


def test_a_smaller_goal_wastes_less() -> None:
    few, more = (chosen_classes(figures(), 8192, goal) for goal in (0.5, 0.0))
    assert few[1] > more[1]
    assert few[0][-1] == more[0][-1] == 8208


def program(at_peak: dict[int, int]) -> Figures:
    """A program whose requests are all live at the peak."""
    counts = Counter(at_peak)
    return Figures(
        allocations=counts.total(),
        threads=1,
        counts=counts,
        at_peak=counts.copy(),
        peak_bytes=sum(each * count for each, count in at_peak.items()),
    )


def test_lists_with_caches_have_no_block_too_small_for_an_age() -> None:
    alone, several = (chosen_classes(figures(threads), 8192, 0.0) for threads in (1, 4))
    assert alone[0][0] == 16
    assert several[0][0] == 32


def test_two_sets_of_as_many_classes_have_distinct_names() -> None:
    # One class of 1,024 bytes wastes 2.8 %. The second has 528 too, in place of a bound of a gap.
    found = [each for each in propose(program({1016: 1000, 520: 60})) if each.core == "lists"]
    one, two = (set(each.classes) for each in found)
    assert len(one) == len(two)
    assert two - one == {528}
    assert [each.name for each in found] == [f"lists-{len(one)}", f"lists-{len(one)}-tight"]


def test_the_stated_waste_is_that_of_the_blocks_before_they_are_rounded() -> None:
    sizes = program({16 * number: 10 for number in range(1, 600)})
    blocks = blocks_of(sizes.at_peak)
    assert len(blocks) > 512
    classes, waste = chosen_classes(sizes, 16384, 0.05)
    live = sum(block * count for block, count in blocks.items())
    assert waste == waste_of(classes, blocks) / live


def test_shares_are_written_without_an_exponent() -> None:
    common = {1016: 9_997_999, 520: 2000}
    (first, *_) = propose(program({**common, 9000: 1}))
    assert "less than 0.01 % of the requests are for more than" in first.reasons["large"]
    (first, *_) = propose(program(common))
    assert "where 100 % of the requests are" in first.reasons["slots"]


def test_the_live_bytes_of_several_inputs_are_those_of_all_peaks() -> None:
    (both, *_) = propose(together([figures(peak_mib=1)] * 3))
    small = 3 * (4 * 5_000 + 24 * 50_000 + 40 * 10_000 + 200 * 100)
    text = f"{bytes_text(small)} of small objects that are live at the peaks, over all inputs"
    assert text in both.reasons["classes"]


def test_caches_on_huge_pages_state_what_their_code_does() -> None:
    found = {each.name: each for each in propose(figures(peak_mib=64))}
    (huge,) = (each for name, each in found.items() if "caches" in name and each.huge_pages)
    text = " ".join(header_of(huge, "job", ()).replace("//", "").split())
    assert "return purgeNever" in text
    assert "When free memory returns: never" in text
    assert "Huge pages: 64.0 MiB are live" in text
    assert "after a second" not in text


def test_caches_keep_memory_only_for_a_later_rise() -> None:
    def wide(rises: int) -> Sentence:
        program = replace(figures(), rises=rises)
        return next(
            each
            for each in propose(program)
            if each.core == "owner-caches" and each.block == 64 * KIB
        )

    kept, returned = wide(2), wide(0)
    assert (kept.purge_ms, returned.purge_ms) == (NEVER, 1000)
    assert kept.name.endswith("-keep")
    assert returned.name.endswith("-64k")
    assert "rises to nine tenths again 2 times" in kept.reasons["purge"]
    assert "never falls" in returned.reasons["purge"]


@pytest.mark.parametrize("sentence", all_sentences(), ids=lambda each: each.name)
def test_a_header_reads_like_those_of_the_catalogue(sentence: Sentence) -> None:
    text = header_of(sentence, "tailored-job", ("Fitted to: ./job",))
    lines = text.splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert "namespace tailored_job {" in lines
    assert any(line.startswith("using TailoredJob = ANSIWrapper<") for line in lines)
    assert type_of("tailored-job") == "heapwright::allocators::TailoredJob"
    reasons = [each for each in sentence.reasons.values() if "%" in each]
    joined = " ".join(line.removeprefix("// ") for line in lines)
    used = {step.slot for step in sentence.steps()}
    assert all(
        reason in joined for slot, reason in sentence.reasons.items() if slot in used and slot
    )
    assert reasons


def test_the_digest_is_that_of_the_code_alone() -> None:
    one, other = propose(figures())[:2]
    assert digest_of(one) != digest_of(other)
    assert digest_of(one) == digest_of(propose(figures())[0])


@pytest.mark.compiles
def test_every_sentence_compiles(tmp_path: Path) -> None:
    answer = compiled(all_sentences(), tmp_path)
    assert answer.valid, answer.pages[:3000]
