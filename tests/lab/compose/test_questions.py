# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Questions to the compiler, and the one line that comes of its answers: with both compilers."""

import pytest

from heapwright.artefacts.composition.aliases import Scope
from heapwright.artefacts.composition.expression import parse_expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.compose.compiler import Answer, Compiler
from heapwright.compose.completion import HEADER, WANTED
from heapwright.compose.diagnosis import explain, why
from heapwright.compose.questions import Failure, Questions

CARVED = "ChunkHeap<64 * KiB, 8, MmapHeap>"
NO_SPANS = (
    "CoalesceHeap needs a SpanHeap below it (isWholeSpan, shrink, extend), and ChunkHeap is none; "
    "CoalesceableHeap gives one"
)


@pytest.mark.parametrize("name", ["Lea", "Kingsley", "KingsleyCoalescing"])
def test_the_catalogue_fits(name: str, compiler: Compiler, toolbox: Toolbox, scope: Scope) -> None:
    questions = Questions(compiler, toolbox, HEADER)
    facts = questions.survey(scope.resolve(parse_expression(name)), WANTED)
    assert isinstance(facts, frozenset)
    assert {"heap", "sized", "aligned", "complete"} <= facts


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            f"CoalesceHeap<64 * KiB, {CARVED}>",
            NO_SPANS,
        ),
        # The lowest rung that fails is named, not the first that is read.
        (
            f"LockedHeap<FutexLock, SizeHeap<CoalesceHeap<64 * KiB, {CARVED}>>>",
            NO_SPANS,
        ),
        (
            f"SelectMmapHeap<FixedLimit<128 * KiB>, SizeHeap<{CARVED}>, MmapHeap>",
            "SelectMmapHeap needs a DirectHeap below it as Large",
        ),
        (
            f"StrictSegHeap<FutexLock, FreelistHeap<NullHeap>, SizeHeap<{CARVED}>>",
            "StrictSegHeap needs a SizeClasses for Classes (count, sizeOf, classFor, classOf), and "
            "FutexLock is none",
        ),
        ("ANSIWrapper<NullHeap>", "ANSIWrapper needs a SizedHeap below it (getSize), and NullHeap"),
    ],
)
def test_a_wrong_stack_is_one_line(
    text: str, line: str, compiler: Compiler, toolbox: Toolbox
) -> None:
    tree = parse_expression(text)
    failure = Questions(compiler, toolbox).misfit(tree)
    assert isinstance(failure, Failure)
    assert explain(failure, tree, toolbox).startswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "LockedHeap<FutexLock, CoalesceHeap<100, CoalesceableHeap<MmapHeap>>>",
            "CoalesceHeap<100>: it demands Growth % minAlignment == 0",
        ),
        ("SizeHeap<ChunkHeap<many, 8, MmapHeap>>", "ChunkHeap<many, 8>: "),
    ],
)
def test_a_wrong_policy_is_one_line(
    text: str, line: str, compiler: Compiler, toolbox: Toolbox
) -> None:
    questions = Questions(compiler, toolbox, HEADER)
    tree = parse_expression(text)
    answer = questions.survey(tree, WANTED)
    assert isinstance(answer, Answer)
    assert why(tree, questions, toolbox, answer).startswith(line)
    assert answer.pages


def test_a_policy_is_not_reported_as_a_heap(compiler: Compiler, toolbox: Toolbox) -> None:
    facts = Questions(compiler, toolbox, HEADER).survey(parse_expression("PowerOfTwo<29>"), WANTED)
    assert isinstance(facts, frozenset)
    assert "heap" not in facts
