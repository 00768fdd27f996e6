# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of a composition: everything is in it, nothing overlaps, text stays in its box."""

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.report.svg import MARGIN, PADDING, WIDEST, Box, draw, lay_out
from heapwright.report.tree import Layer

SVG = "{http://www.w3.org/2000/svg}"
MMAP = Layer(layer="MmapHeap", caption="maps pages for each object, unmaps them on free")
LISTS = Layer(
    layer="StrictSegHeap",
    policies=("AtLeast<24, PowerOfTwo<29>>",),
    caption="rounds up to a size class, which an object never leaves",
    below=(
        Layer(layer="FreelistHeap", caption="keeps", below=(Layer(layer="NullHeap"),)),
        Layer(layer="CoalesceHeap", policies=("64 KiB",), caption="splits", below=(MMAP,)),
    ),
)
TALL = Layer(layer="ANSIWrapper", caption="the C rules", below=(LISTS,))
WIDE = Layer(layer="Seg", policies=("A<B, C>", "7"), below=(LISTS, MMAP, LISTS, MMAP))
WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
LAYERS = st.recursive(
    st.builds(Layer, layer=WORDS, caption=WORDS),
    lambda inner: st.builds(
        Layer,
        layer=WORDS,
        policies=st.lists(WORDS, max_size=3).map(tuple),
        caption=WORDS,
        below=st.lists(inner, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


def check(root: Box) -> None:
    """Boxes do not overlap, each is over those below it, and its text fits."""
    boxes = list(root.walk())
    for one, other in combinations(boxes, 2):
        apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
        apart_y = one.y + one.height <= other.y or other.y + other.height <= one.y
        assert apart_x or apart_y, (one.layer.layer, other.layer.layer)
    for box in boxes:
        assert box.x >= MARGIN - 0.01
        assert all(child.y > box.y + box.height for child in box.below)
        assert all(line.width + 2 * PADDING <= box.width + 0.01 for line in box.lines)
        assert sum(line.size for line in box.lines) + 2 * PADDING <= box.height


@pytest.mark.parametrize("layer", [MMAP, LISTS, TALL, WIDE])
def test_the_boxes_of_a_composition_stand_apart(layer: Layer) -> None:
    check(lay_out(layer))


@given(LAYERS)
def test_the_boxes_of_anything_stand_apart_and_make_a_picture(layer: Layer) -> None:
    check(lay_out(layer))
    ElementTree.fromstring(draw("a\0<b>&", "c", layer))


def texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("layer", [MMAP, LISTS, TALL, WIDE])
def test_every_rung_is_in_the_picture(layer: Layer) -> None:
    root = ElementTree.fromstring(draw("mine", "what it does", layer))
    groups = root.findall(f"{SVG}g")
    boxes = list(lay_out(layer).walk())
    assert len(groups) == len(boxes)
    for group, box in zip(groups, boxes, strict=True):
        written = " ".join(texts(group))
        assert box.layer.layer in written
        assert ", ".join(box.layer.policies) in written
        assert box.layer.caption in written
    assert len(root.findall(f"{SVG}path")) == len(boxes) - 1
    assert texts(root)[:2] == ["mine", "what it does"]


def test_text_is_inside_of_its_box_as_it_is_drawn() -> None:
    root = ElementTree.fromstring(draw("mine", "what it does", WIDE))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for group in root.findall(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        left, top = float(rect.attrib["x"]), float(rect.attrib["y"])
        right, bottom = left + float(rect.attrib["width"]), top + float(rect.attrib["height"])
        assert 0 < left < right < width
        assert 0 < top < bottom < height
        for text in group.findall(f"{SVG}text"):
            size = float(text.attrib["font-size"])
            assert left < float(text.attrib["x"])
            assert float(text.attrib["x"]) + len(text.text or "") * size * WIDEST < right
            assert top + size * 0.7 < float(text.attrib["y"]) < bottom


def test_a_policy_that_fits_a_line_is_not_broken() -> None:
    layer = Layer(layer="Fit", policies=("ExactFit<127, BestFit>", "128 KiB", "x y " * 12))
    lines = [line.text for line in lay_out(layer).lines]
    assert lines[1:3] == ["ExactFit<127, BestFit>,", "128 KiB, x y x y x y x y x y x"]


def test_the_picture_has_a_title_and_a_description() -> None:
    root = ElementTree.fromstring(draw("mine", "what it does", TALL))
    labels = root.attrib["aria-labelledby"].split()
    told = {each.attrib["id"]: each.text or "" for each in root if "id" in each.attrib}
    assert root.attrib["role"] == "img"
    assert told[labels[0]] == "The layers of mine"
    assert "ANSIWrapper on StrictSegHeap<AtLeast<24, PowerOfTwo<29>>> on" in told[labels[1]]


def test_reserved_characters_of_xml_are_escaped() -> None:
    layer = Layer(layer="A<&>", policies=('"',), caption="</svg>")
    root = ElementTree.fromstring(draw("<x>", "&amp;", layer))
    assert texts(root) == ["<x>", "&amp;", "A<&>", '"', "</svg>"]
