# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The drawing of a composition: stacked where it is a stack, branched where it branches."""

from io import BytesIO, StringIO, TextIOWrapper

import pytest
from rich.cells import cell_len

from heapwright.report.console import make_console
from heapwright.report.tree import CompositionTree, Layer

PAGES = {"layer": "MmapHeap", "policies": [], "caption": "pages from the kernel", "below": []}
SOURCE = {
    "layer": "SizeHeap",
    "policies": [],
    "caption": "each object remembers its size",
    "below": [PAGES],
}
KINGSLEY = Layer.model_validate(
    {
        "layer": "LockedHeap",
        "policies": ["FutexLock"],
        "caption": "one lock around it all",
        "below": [
            {
                "layer": "StrictSegHeap",
                "policies": ["PowerOfTwo<8, 31>"],
                "caption": "a class for each size",
                "below": [
                    {
                        "layer": "FreelistHeap",
                        "policies": [],
                        "caption": "what is freed waits on its class's list",
                        "below": [SOURCE],
                    },
                    SOURCE,
                ],
            }
        ],
    }
)


def drawn(top: Layer, width: int | None = None) -> str:
    stream = StringIO()
    make_console(stream, width=width).print(CompositionTree(top))
    return stream.getvalue()


def test_a_wide_drawing_has_the_captions_beside() -> None:
    assert (
        drawn(KINGSLEY)
        == """\
LockedHeap<FutexLock>             one lock around it all
StrictSegHeap<PowerOfTwo<8, 31>>  a class for each size
├ FreelistHeap                    what is freed waits on its class's list
│ SizeHeap                        each object remembers its size
│ MmapHeap                        pages from the kernel
└ SizeHeap                        each object remembers its size
  MmapHeap                        pages from the kernel
"""
    )


def test_a_narrow_one_has_them_below_and_cuts_nothing() -> None:
    text = drawn(KINGSLEY, 40)
    assert (
        text
        == """\
LockedHeap<FutexLock>
  one lock around it all
StrictSegHeap<PowerOfTwo<8, 31>>
│   a class for each size
├ FreelistHeap
│   what is freed waits on its class's
│   list
│ SizeHeap
│   each object remembers its size
│ MmapHeap
│   pages from the kernel
└ SizeHeap
    each object remembers its size
  MmapHeap
    pages from the kernel
"""
    )


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_every_width_holds_every_word(width: int) -> None:
    text = drawn(KINGSLEY, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    for word in ("MmapHeap", "FreelistHeap", "waits", "pages", "remembers"):
        assert word in text


def test_a_stack_of_any_height_does_not_indent() -> None:
    stack: dict[str, object] = dict(PAGES)
    for _ in range(30):
        stack = {"layer": "SizeHeap", "policies": [], "caption": "", "below": [stack]}
    lines = drawn(Layer.model_validate(stack), 40).splitlines()
    assert lines[:30] == ["SizeHeap"] * 30
    assert lines[30].startswith("MmapHeap")


def test_ascii_where_the_encoding_has_no_branches() -> None:
    raw = BytesIO()
    stream = TextIOWrapper(raw, encoding="ascii")
    make_console(stream).print(CompositionTree(KINGSLEY))
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert "\n+ FreelistHeap" in text
    assert "\n| SizeHeap" in text
