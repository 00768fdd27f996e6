# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which rungs a heap lacks to replace malloc."""

import pytest

from heapwright.artefacts.composition.aliases import Scope
from heapwright.artefacts.composition.expression import parse_expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Compiler
from heapwright.compose.completion import (
    HEADER,
    WANTED,
    entry_points,
    hides_sizes,
    missing,
    put_on,
    reasons,
)
from heapwright.compose.questions import Questions

COALESCED = "CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>"


@pytest.mark.parametrize(
    ("text", "facts", "added"),
    [
        (
            "X",
            "heap sized tagged checkable",
            "CheckedHeap AlignHeap LockedHeap SignalSafeHeap ANSIWrapper",
        ),
        (
            "X",
            "heap sized tagged aligned checkable",
            "CheckedHeap LockedHeap SignalSafeHeap ANSIWrapper",
        ),
        (
            "X",
            "heap headerable",
            "SizeHeap CheckedHeap AlignHeap LockedHeap SignalSafeHeap ANSIWrapper",
        ),
        ("X", "heap sized aligned shared", "SignalSafeHeap ANSIWrapper"),
        ("CheckedHeap<X>", "heap sized tagged aligned", "LockedHeap SignalSafeHeap ANSIWrapper"),
        (
            "LockedHeap<L, X>",
            "heap sized tagged checkable shared",
            "AlignHeap SignalSafeHeap ANSIWrapper",
        ),
        ("SignalSafeHeap<LockedHeap<L, X>>", "heap sized aligned shared", "ANSIWrapper"),
        ("HandlerSafeHeap<X>", "heap sized aligned shared", "ANSIWrapper"),
        ("ANSIWrapper<X>", "heap sized aligned complete", ""),
    ],
)
def test_missing_layers_are_added_in_order(
    text: str, facts: str, added: str, toolbox: Toolbox
) -> None:
    rungs = missing(parse_expression(text), frozenset(facts.split()), toolbox)
    assert [each.name for each in rungs] == added.split()


@pytest.mark.parametrize(
    ("text", "offered", "offers"),
    [
        ("ANSIWrapper<HandlerSafeHeap<X>>", "", "signals"),
        ("ANSIWrapper<HandlerSafeHeap<X>>", "signals granary", "granary signals"),
        ("ANSIWrapper<SignalSafeHeap<X>>", "signals granary", "granary"),
        ("ANSIWrapper<SignalSafeHeap<X>>", "", ""),
    ],
)
def test_library_receives_handler_hooks_if_a_layer_needs_them(
    text: str, offered: str, offers: str, toolbox: Toolbox
) -> None:
    expression = parse_expression(text)
    assert entry_points(expression, offered.split(), toolbox) == tuple(offers.split())


def test_a_type_that_is_no_heap_is_refused(toolbox: Toolbox) -> None:
    with pytest.raises(HeapwrightError, match="PowerOfTwo<29> is no heap"):
        missing(parse_expression("PowerOfTwo<29>"), frozenset(), toolbox)


def test_rungs_are_put_on_with_their_policies(toolbox: Toolbox) -> None:
    rungs = missing(parse_expression("X"), frozenset({"heap", "sized", "aligned"}), toolbox)
    whole = put_on(parse_expression("X"), rungs)
    assert str(whole) == "ANSIWrapper<SignalSafeHeap<LockedHeap<FutexLock, X>>>"


@pytest.mark.parametrize("text", [COALESCED, "ChunkHeap<64 * KiB, 8, MmapHeap>", "lea::Checked"])
def test_completion_offers_all_names(
    text: str, toolbox: Toolbox, scope: Scope, any_compiler: Compiler
) -> None:
    questions = Questions(any_compiler, toolbox, HEADER)
    tree = scope.resolve(parse_expression(text))
    facts = questions.survey(tree, WANTED)
    assert isinstance(facts, frozenset)
    whole = questions.survey(put_on(tree, missing(tree, facts, toolbox)), WANTED)
    assert isinstance(whole, frozenset)
    assert "complete" in whole


def test_each_added_layer_has_a_reason(toolbox: Toolbox) -> None:
    facts = frozenset({"heap", "headerable"})
    rungs = missing(parse_expression("X"), facts, toolbox)
    head, *lines = reasons(rungs, facts)
    assert head.startswith("put on top to make it complete: ANSIWrapper, ")
    assert [line.split(":")[0].strip() for line in lines] == [each.name for each in reversed(rungs)]
    assert lines[-1] == "  SizeHeap: objects do not remember their size"
    assert not hides_sizes(rungs, facts)
    assert reasons((), facts) == ()


def test_a_size_heap_over_a_heap_with_sizes_is_explained(toolbox: Toolbox) -> None:
    facts = frozenset({"heap", "sized", "headerable"})
    rungs = missing(parse_expression("X"), facts, toolbox)
    assert hides_sizes(rungs, facts)
    words = "the heap has a getSize, but no memalign of its own. It has no tags"
    assert words in reasons(rungs, facts)[-1]


def test_a_missing_verb_of_a_heap_is_named(toolbox: Toolbox) -> None:
    facts = frozenset({"alignment", "malloc", "free"})
    with pytest.raises(HeapwrightError, match="X is no heap: it lacks a malloc that is noexcept"):
        missing(parse_expression("X"), facts, toolbox)
