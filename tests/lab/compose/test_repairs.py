# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What edits leave wanting is brought along, and what cannot be is said in one line."""

import pytest

from heapwright.artefacts.composition.aliases import Scope
from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Compiler
from heapwright.compose.edits import Edit, apply
from heapwright.compose.questions import Questions
from heapwright.compose.repairs import meet_needs, raise_classes

pytestmark = pytest.mark.compiles


def made(
    name: str, edit: Edit, compiler: Compiler, toolbox: Toolbox, scope: Scope
) -> tuple[Expression, list[str]]:
    before = scope.resolve(parse_expression(name))
    questions = Questions(compiler, toolbox)
    met = meet_needs(apply(edit, before, toolbox), questions, toolbox)
    raised = raise_classes(met.expression, before, compiler, toolbox)
    return raised.expression, [*met.notes, *raised.notes]


def test_kingsley_with_coalescing_is_that_of_the_catalogue(
    any_compiler: Compiler, toolbox: Toolbox, scope: Scope
) -> None:
    edit = Edit("insert", "CoalesceHeap<256 * KiB>", "FreelistHeap")
    tree, notes = made("Kingsley", edit, any_compiler, toolbox, scope)
    assert tree == scope.resolve(parse_expression("KingsleyCoalescing"))
    assert notes == [
        "CoalesceableHeap brought along: CoalesceHeap needs SpanHeap",
        "AtLeast<24, PowerOfTwo<29>>, because the smallest object of CoalesceHeap has 24 bytes",
    ]


def test_coalescing_taken_out_again_brings_sizes_along(
    any_compiler: Compiler, toolbox: Toolbox, scope: Scope
) -> None:
    edit = Edit("insert", "ChunkHeap<1 * MiB, 8>", "FreelistHeap")
    tree, notes = made("KingsleyCoalescing", edit, any_compiler, toolbox, scope)
    assert "FreelistHeap<NullHeap>, SizeHeap<ChunkHeap<1 * MiB, 8, MmapHeap>>" in str(tree)
    assert notes == ["SizeHeap brought along: StrictSegHeap needs SizedHeap"]


def test_classes_that_are_carved_out_of_blocks_stay_as_they_are(
    any_compiler: Compiler, toolbox: Toolbox, scope: Scope
) -> None:
    """A superblock is no object: that it has 8 KiB says nothing of Hoard's classes."""
    edit = Edit("replace", "Emptiness<1, 8, 4>", "Emptiness")
    tree, notes = made("Hoard", edit, any_compiler, toolbox, scope)
    assert "HoardHeap<GeometricSlots<6, 5, 16, 4 * KiB>" in str(tree)
    assert "Emptiness<1, 8, 4>" in str(tree)
    assert notes == []


def test_a_stack_that_needs_nothing_is_unchanged(
    any_compiler: Compiler, toolbox: Toolbox, scope: Scope
) -> None:
    tree = scope.resolve(parse_expression("Lea"))
    met = meet_needs(tree, Questions(any_compiler, toolbox), toolbox)
    assert met.expression is tree
    assert met.notes == ()


def test_removed_entries_stay_removed(
    any_compiler: Compiler, toolbox: Toolbox, scope: Scope
) -> None:
    edit = Edit("remove", "CoalesceableHeap")
    tree = apply(edit, scope.resolve(parse_expression("KingsleyCoalescing")), toolbox)
    with pytest.raises(HeapwrightError, match="CoalesceHeap needs a SpanHeap below it"):
        meet_needs(tree, Questions(any_compiler, toolbox), toolbox, frozenset({"CoalesceableHeap"}))
