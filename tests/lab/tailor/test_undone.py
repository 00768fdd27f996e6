# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A composition with one step undone, and what the step is worth."""

from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.artefacts.tailoring.folder import Replayed
from heapwright.tailor.grammar import KIB, MIB, NEVER, Sentence
from heapwright.tailor.header import digest_of, header_of
from heapwright.tailor.undone import difference, undone, with_values

from .builders import all_sentences, compiled

LISTS = Sentence("lists", "lists-3", 64 * KIB, classes=(48, 160, 65568), chunk=64 * KIB)
CACHES = Sentence("owner-caches", "caches-16", 16 * KIB, block=64 * KIB, depth=16, purge_ms=NEVER)


def slots(sentence: Sentence) -> list[str]:
    return [each.slot for each in undone(sentence)]


def test_each_fitted_step_is_undone_and_no_general_one() -> None:
    assert slots(LISTS) == ["classes", "large", "chunk"]
    assert slots(replace(LISTS, huge_pages=True)) == ["pages", "classes", "large"]
    assert slots(CACHES) == ["block", "depth", "purge"]
    assert slots(replace(CACHES, block=32 * KIB, depth=64, purge_ms=1000)) == []
    assert slots(Sentence("fit", "fit-4", 256 * KIB, quick=4, chunk=1 * MIB)) == [
        "large",
        "chunk",
        "quick",
    ]
    assert slots(Sentence("superblocks", "s", 4 * KIB, block=16 * KIB)) == ["block"]


def test_one_step_differs_and_the_code_is_another() -> None:
    for sentence in (LISTS, CACHES):
        variants = [each.sentence for each in undone(sentence)]
        digests = {digest_of(each) for each in (sentence, *variants)}
        assert len(digests) == len(variants) + 1
        names = {each.name for each in variants}
        assert names == {f"{sentence.name}-without-{slot}" for slot in slots(sentence)}


def test_classes_reach_the_limit_that_takes_the_place_of_another() -> None:
    (changed,) = (each.sentence for each in undone(LISTS) if each.slot == "large")
    assert changed.large == 128 * KIB
    assert changed.classes[:2] == LISTS.classes[:2]
    assert changed.classes[-1] == 128 * KIB + 16
    lower = replace(LISTS, large=256 * KIB, classes=(48, 160, 262_160))
    (changed,) = (each.sentence for each in undone(lower) if each.slot == "large")
    assert (changed.classes[-1], changed.classes[:2]) == (128 * KIB + 16, (48, 160))


def test_the_value_of_a_step_is_in_its_caption() -> None:
    whole = Replayed(seconds=1, peak_bytes=1000, faults=100, instructions=10_000)
    without = Replayed(seconds=1, peak_bytes=1250, faults=110, instructions=9_900)
    text = "-1.0 % instructions, +10.0 % page faults and +25.0 % peak memory"
    assert difference(whole, without) == text
    first = next(iter(undone(LISTS)))
    fitted = replace(LISTS, reasons={"classes": "these 3 waste 1 %"})
    captioned = with_values(fitted, whole, [(first, without)])
    wanted = f"these 3 waste 1 %. With powers of two, replays have {text}"
    assert captioned.reasons["classes"] == wanted
    assert wanted in " ".join(header_of(captioned, "job", ()).replace("//", "").split())


def test_without_counts_the_times_are_compared() -> None:
    one, other = Replayed(seconds=1, peak_bytes=10), Replayed(seconds=1.5, peak_bytes=10)
    assert difference(one, other) == "+50.0 % processor time and +0.0 % peak memory"
    assert difference(one, Replayed(why_not="it crashed")) == ""


@pytest.mark.slow
def test_every_undone_sentence_compiles(tmp_path: Path) -> None:
    sentences = (*all_sentences(), LISTS, replace(LISTS, threads=True), CACHES)
    without = [each.sentence for sentence in sentences for each in undone(sentence)]
    answer = compiled(without, tmp_path)
    assert answer.valid, answer.pages[:3000]
