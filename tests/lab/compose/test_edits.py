# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Edits on the tree of a composition, before any compiler sees it."""

import pytest

from heapwright.artefacts.composition.aliases import Scope
from heapwright.artefacts.composition.expression import parse_expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.compose.edits import Edit, apply, described, find, parse_edits

KINGSLEY_TOP = "ANSIWrapper<SignalSafeHeap<LockedHeap<FutexLock, AlignHeap<CheckedHeap<"
LISTS = "StrictSegHeap<PowerOfTwo<29>, FreelistHeap<NullHeap>, "
CARVED = "SizeHeap<ChunkHeap<1 * MiB, 8, MmapHeap>>"


def edited(name: str, *options: str, toolbox: Toolbox, scope: Scope) -> str:
    tree = scope.resolve(parse_expression(name))
    pairs = list(zip(options[::2], options[1::2], strict=True))
    for edit in parse_edits(pairs):
        tree = apply(edit, tree, toolbox)
    return str(tree)


def kingsley(below: str, top: str = KINGSLEY_TOP, lists: str = LISTS) -> str:
    return f"{top}{lists}{below}>{'>' * top.count('<')}"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # Below a list over nothing is the superheap of the layer that the list belongs to. A layer
        # that carves takes the place of the carving there.
        (
            ("--insert", "CoalesceHeap<256 * KiB>", "--below", "FreelistHeap"),
            kingsley("CoalesceHeap<256 * KiB, MmapHeap>"),
        ),
        (
            ("--insert", "CoalesceHeap", "--below", "PerClass"),
            kingsley("CoalesceHeap<64 * KiB, MmapHeap>"),
        ),
        (
            ("--insert", "CoalesceHeap", "--above", "ChunkHeap"),
            kingsley("SizeHeap<CoalesceHeap<64 * KiB, MmapHeap>>"),
        ),
        (
            ("--insert", "BoundedHeap<8 * MiB>", "--above", "CheckedHeap"),
            kingsley(
                CARVED, KINGSLEY_TOP.replace("CheckedHeap<", "BoundedHeap<8 * MiB, CheckedHeap<")
            ),
        ),
        (("--remove", "AlignHeap"), kingsley(CARVED, KINGSLEY_TOP.replace("AlignHeap<", ""))),
        (("--remove", "Aligned"), kingsley(CARVED, KINGSLEY_TOP.replace("AlignHeap<", ""))),
        (
            ("--replace", "ChunkHeap", "--with", "ChunkHeap<64 * KiB, 8>"),
            kingsley("SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>"),
        ),
        (("--replace", "MmapHeap", "--with", "SbrkHeap"), kingsley(CARVED.replace("Mmap", "Sbrk"))),
        (
            ("--replace", "Classes", "--with", "Exact<40>"),
            kingsley(CARVED, lists=LISTS.replace("PowerOfTwo<29>", "Exact<40>")),
        ),
        (
            (
                "--replace",
                "StrictSegHeap",
                "--with",
                "StrictSegHeap<Exact<4>, FreelistHeap<NullHeap>>",
            ),
            kingsley(CARVED, lists=LISTS.replace("PowerOfTwo<29>", "Exact<4>")),
        ),
        (
            ("--remove", "AlignHeap", "--insert", "AlignHeap", "--above", "CheckedHeap"),
            kingsley(CARVED),
        ),
    ],
)
def test_an_edit_of_kingsley(
    options: tuple[str, ...], expected: str, toolbox: Toolbox, scope: Scope
) -> None:
    assert edited("Kingsley", *options, toolbox=toolbox, scope=scope) == expected


def test_rungs_that_an_edit_leaves_alone_keep_their_names(toolbox: Toolbox, scope: Scope) -> None:
    tree = scope.resolve(parse_expression("Kingsley"))
    tree = apply(Edit("insert", "CoalesceHeap", "FreelistHeap"), tree, toolbox)
    names = {each.name: (each.rung, each.note) for each in tree.walk()}
    assert names["StrictSegHeap"] == ("Lists", "an object never leaves its class")
    assert names["CoalesceHeap"] == ("", "")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--remove", "Nothing"), "there is no Nothing in it, only ANSIWrapper"),
        (("--remove", "MmapHeap"), "stands on nothing and cannot be taken out"),
        (("--remove", "29"), "stands on nothing"),
        (("--insert", "NoSuchHeap", "--below", "FreelistHeap"), "no layer 'NoSuchHeap'"),
        (("--insert", "CoalesceHeap", "--below", "MmapHeap"), "nothing below MmapHeap"),
        (("--insert", "CoalesceHeap<1, 2, 3>", "--below", "SizeHeap"), "does not say what"),
        (("--replace", "SizeHeap", "--with", "CoalesceHeap<"), "cannot be read"),
    ],
)
def test_an_edit_that_cannot_be_made(
    options: tuple[str, ...], why: str, toolbox: Toolbox, scope: Scope
) -> None:
    with pytest.raises(HeapwrightError, match=why):
        edited("Kingsley", *options, toolbox=toolbox, scope=scope)


def test_a_repeated_layer_is_named_by_its_rung(toolbox: Toolbox, scope: Scope) -> None:
    tree = scope.resolve(parse_expression("SizeHeap<SizeHeap<MmapHeap>>"))
    with pytest.raises(HeapwrightError, match="SizeHeap is in it 2 times"):
        find("SizeHeap", tree, toolbox)
    lea = scope.resolve(parse_expression("Lea"))
    assert find("Objects", lea, toolbox) == find("lea::Objects", lea, toolbox)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([("--insert", "A")], "--insert A needs --below LAYER or --above LAYER behind it"),
        ([("--insert", "A"), ("--remove", "B")], "--insert A needs"),
        ([("--insert", "A"), ("--with", "B")], "--with B belongs behind --replace"),
        ([("--replace", "A")], "--replace A needs --with LAYER"),
        ([("--replace", "A"), ("--below", "B")], "--below B belongs behind --insert"),
        ([("--below", "B")], "--below B belongs behind --insert"),
        ([("--with", "B")], "--with B belongs behind --replace"),
    ],
)
def test_options_that_do_not_go_together(options: list[tuple[str, str]], why: str) -> None:
    with pytest.raises(HeapwrightError, match=why):
        parse_edits(options)


def test_edits_are_read_in_their_order() -> None:
    edits = parse_edits(
        [
            ("--insert", "A"),
            ("--above", "B"),
            ("--remove", "C"),
            ("--replace", "D"),
            ("--with", "E"),
        ]
    )
    assert edits == [
        Edit("insert", "A", "B", above=True),
        Edit("remove", "C"),
        Edit("replace", "E", "D"),
    ]
    assert [described(each) for each in edits] == ["A above its B", "no C", "E for its D"]
