# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The tree of calls has each stack once, and its sums include the calls within."""

from heapwright.artefacts.profile.calls import Calls, CodeObject, Function
from heapwright.artefacts.stacks.profile import Amount, chains, stack_of
from heapwright.artefacts.stacks.tree import Place, TreeBuilder, without_small

MAIN = Place((Function(name="main"),))
INLINED = Place((Function(name="outer"), Function(name="inner")), 0x20)


def tree(*stacks: tuple[tuple[Place, ...], int]) -> Calls:
    builder = TreeBuilder()
    for stack, size in stacks:
        builder.add(builder.stack(stack), {Amount.BYTES: size, Amount.ALLOCATIONS: 1})
    return builder.calls()


def test_sums_include_the_calls_within() -> None:
    calls = tree(((MAIN,), 5), ((MAIN, INLINED), 7), ((MAIN, INLINED), 8), ((), 1))
    assert [(node.parent, node.bytes, node.allocations) for node in calls.nodes] == [
        (0, 21, 4),
        (0, 20, 3),
        (1, 15, 2),
    ]
    assert [(chain.place, chain.own.bytes) for chain in chains(calls)] == [(0, 1), (1, 5), (2, 15)]
    assert [each.name for each in stack_of(calls, 2)] == ["inner", "outer", "main"]


def test_calls_without_amounts_are_left_out() -> None:
    assert len(tree(((MAIN, INLINED), 0)).nodes) == 3  # one allocation of 0 bytes
    builder = TreeBuilder()
    builder.add(builder.stack((MAIN, INLINED)), {})
    assert len(builder.calls().nodes) == 1


def test_code_in_no_file_has_the_number_behind_the_last() -> None:
    builder = TreeBuilder()
    code = builder.object(CodeObject(path="/bin/a"))
    assert builder.object(CodeObject(path="/bin/a")) == code
    builder.add(builder.stack((Place(address=4, code=code), MAIN)), {Amount.KEPT: 1})
    assert [node.code for node in builder.calls().nodes] == [0, 0, 1]


def test_small_calls_are_counted_for_their_callers() -> None:
    calls = tree(((MAIN, INLINED), 1), ((MAIN,), 1000), ((INLINED,), 500))
    kept = without_small(calls, 2)
    assert [(node.parent, node.bytes) for node in kept.nodes] == [(0, 1501), (0, 1001)]
    assert [each.name for each in stack_of(kept, 1)] == ["main"]
    assert without_small(calls, 10_000) == calls
