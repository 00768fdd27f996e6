# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Type expressions, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.base.errors import HeapwrightError

NAMES = st.sampled_from(["MmapHeap", "lea::Checked", "::heapwright::SizeHeap", "_x1"])
NUMBERS = st.sampled_from(
    ["8", "64 * KiB", "sizeof(void *)", "1 << 4", "(1 + 2) * 3", "Limit::of(3, 4)"]
)
TREES = st.recursive(
    st.one_of(NAMES, NUMBERS).map(Expression),
    lambda inner: st.builds(Expression, NAMES, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=12,
)


@given(TREES)
def test_a_written_document_is_read_again(tree: Expression) -> None:
    assert str(parse_expression(str(tree))) == str(tree)


def test_a_tree_has_its_parts() -> None:
    tree = parse_expression("CoalesceHeap<64*KiB , CoalesceableHeap< MmapHeap > >")
    assert tree.name == "CoalesceHeap"
    assert [str(each) for each in tree.arguments] == ["64 * KiB", "CoalesceableHeap<MmapHeap>"]
    assert tree.arguments[1].arguments == (Expression("MmapHeap"),)
    assert not tree.arguments[0].is_named
    assert [each.name for each in tree.walk()] == [
        "CoalesceHeap",
        "64 * KiB",
        "CoalesceableHeap",
        "MmapHeap",
    ]


def test_the_name_of_a_rung_is_not_part_of_what_it_is() -> None:
    assert Expression("MmapHeap", rung="Pages", note="from the system") == Expression("MmapHeap")


def test_a_change_goes_through_the_whole_tree() -> None:
    tree = parse_expression("A<B<C>, C>")
    changed = tree.changed(lambda each: Expression("D") if each.name == "C" else each)
    assert str(changed) == "A<B<D>, D>"
    assert tree.changed(lambda each: each) is tree


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("A<B", "a > is missing"),
        ("A<B>>", "too much at its end"),
        ("A<,>", "nothing where an argument should be"),
        ("A<B,>", "nothing where an argument should be"),
        ("A<(1>", "a bracket is not closed"),
        ("A<1)>", "closes nothing"),
        ("A<B>, C", "too much at its end"),
        ("A<" * 200 + "B" + ">" * 200, "levels deep"),
    ],
)
def test_an_invalid_expression_is_refused(text: str, why: str) -> None:
    with pytest.raises(HeapwrightError, match=why):
        parse_expression(text)
