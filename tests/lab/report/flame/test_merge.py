# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Calls become boxes by name, and their requested bytes stay the same."""

from heapwright.artefacts.profile.calls import Call, Calls, CodeObject, Function
from heapwright.artefacts.stacks.profile import LEFT_OUT
from heapwright.report.flame.merge import LIBRARIES, Sums, by_function, own_tree, tree_of

OBJECTS = (CodeObject(path="/usr/bin/program"), CodeObject(path="/lib/libx.so.1"))


def made(*nodes: Call, frames: tuple[tuple[int, ...], ...] = ()) -> Calls:
    functions = (Function(name="start"), Function(name="main"), Function(name="leak"))
    root = Call(0, 0, 0, 100, 1000, 10, 100)
    return Calls(objects=OBJECTS, nodes=(root, *nodes), functions=functions, frames=((), *frames))


def test_one_function_called_from_two_lines_is_one_box() -> None:
    calls = made(
        Call(0, 0, 0x10, 60, 600, 6, 60),
        Call(0, 0, 0x20, 40, 400, 4, 40),
        frames=((1,), (1,)),
    )
    shown = [(box.parent, box.name, box.sums) for box in tree_of(calls).boxes]
    assert shown == [(0, "all", Sums(1000, 100, 100, 10)), (0, "main", Sums(1000, 100, 100, 10))]


def test_an_inlined_function_is_inside_its_caller() -> None:
    calls = made(
        Call(0, 0, 0x10, 100, 1000, 10, 100), Call(1, 0, 0x20, 70, 700, 0, 0), frames=((0, 1), (2,))
    )
    assert [(box.parent, box.name) for box in tree_of(calls).boxes] == [
        (0, "all"),
        (0, "start"),
        (1, "main"),
        (2, "leak"),
    ]


def test_the_same_name_elsewhere_is_another_box() -> None:
    calls = made(
        Call(0, 0, 0x10, 50, 500, 0, 0),
        Call(0, 0, 0x20, 50, 500, 0, 0),
        Call(1, 0, 0x30, 20, 200, 0, 0),
        Call(2, 0, 0x30, 30, 300, 0, 0),
        frames=((0,), (1,), (2,), (2,)),
    )
    assert [(box.parent, box.sums.bytes) for box in tree_of(calls).boxes if box.name == "leak"] == [
        (1, 200),
        (2, 300),
    ]


def test_a_call_without_a_name_shows_its_address() -> None:
    calls = made(
        Call(0, 1, 0xABC, 1, 1, 0, 0), Call(0, 2, 0x7F, 1, 1, 0, 0), Call(0, 3, 0, 1, 1, 0, 0)
    )
    assert [box.name for box in tree_of(calls).boxes[1:]] == ["libx.so.1+0xabc", "0x7f", LEFT_OUT]


def test_allocations_of_functions_sum_to_all_but_the_omitted_ones() -> None:
    calls = made(
        Call(0, 0, 0x10, 100, 1000, 10, 100),
        Call(1, 0, 0x20, 30, 700, 0, 0),
        Call(2, 0, 0x30, 10, 100, 0, 0),
        frames=((1,), (2,), (1,)),
    )
    found = by_function(tree_of(calls).boxes)
    assert found == {"main": Sums(400, 80, 100, 10), "leak": Sums(600, 20, 0, 0)}


def test_library_functions_leave_their_figures_to_those_that_call_them() -> None:
    functions = tuple(
        Function(name=name)
        for name in ("_start", "main", "std::vector<int>::push_back(int)", "compare", "malloc")
    )
    calls = made(
        Call(0, 0, 0x10, 90, 900, 9, 90),
        Call(1, 0, 0x20, 90, 900, 9, 90),
        Call(2, 0, 0x30, 50, 500, 5, 50),
        Call(2, 0, 0x31, 40, 400, 4, 40),
        Call(3, 0, 0x40, 20, 200, 2, 20),
        Call(4, 0, 0x40, 10, 100, 1, 10),
        Call(0, 0, 0x50, 10, 100, 1, 10),
        frames=((0,), (1,), (2,), (2,), (3,), (3,), (4,)),
    ).model_copy(update={"functions": functions})
    own = own_tree(tree_of(calls), calls).boxes
    assert [(box.parent, box.name, box.sums) for box in own] == [
        (0, "all", Sums(1000, 100, 100, 10)),
        (0, "main", Sums(900, 90, 90, 9)),
        (1, "compare", Sums(300, 30, 30, 3)),
        (0, LIBRARIES, Sums(100, 10, 10, 1)),
    ]


def test_a_tree_without_library_functions_stays_as_it_is() -> None:
    calls = made(Call(0, 0, 0x10, 90, 900, 9, 90), frames=((1,),))
    assert own_tree(tree_of(calls), calls).boxes == tree_of(calls).boxes
