# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is proposed for a program, and how it is written."""

import os
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.compose.compiler import find_compiler, write
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.header import digest_of, header_of, type_of
from heapwright.tailor.proposals import chosen_classes, enough_depth, large_limit, propose

from .builders import figures


def all_sentences() -> list[Sentence]:
    """Those of programs with one and with several threads, small and large."""
    return [
        sentence
        for threads in (1, 4)
        for peak_mib in (1, 64)
        for sentence in propose(figures(threads, peak_mib))
    ]


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
    own = native.native_dir()
    compiler = find_compiler(None, os.environ, tmp_path)
    compiler.include = (own / "include", own, tmp_path)
    text = ""
    for sentence in {digest_of(each): each for each in all_sentences()}.values():
        name = f"s-{digest_of(sentence)}"
        write(tmp_path / f"{name}.hpp", header_of(sentence, name, ()))
        text += f'#include "{name}.hpp"\n'
        text += f"static_assert(heapwright::preload::CompleteAllocator<{type_of(name)}>);\n"
    answer = compiler.ask(f"#include <preload/complete_allocator.hpp>\n{text}")
    assert answer.valid, answer.pages[:3000]
