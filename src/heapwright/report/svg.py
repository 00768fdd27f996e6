# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A composition as a picture: SVG, every layer a box, the sources at the bottom of their branches.

The picture has only text and rectangles, so it looks alike in every viewer. The font has a fixed
width, because its widths are known without the font: every common one is at most `WIDEST` of its
size wide. A request enters at the top; where a heap chooses between several, the drawing branches.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from rich.cells import cell_len

from heapwright.report.tree import Layer

FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
WIDEST = 0.62
"""The width of a character in a fixed-width font of size 1."""
TITLE, POLICY, CAPTION, HEAD = 14, 12, 11, 17
LINE = 1.35
UNBROKEN = "\N{NO-BREAK SPACE}"
PADDING = 10
GAP, RISE, MARGIN = 24, 26, 24
CAPTION_WIDTH, POLICY_WIDTH, HEAD_WIDTH = 34, 30, 60
INK, FAINT, EDGE, PAPER, RUNG, SOURCE = (
    "#1b1f24",
    "#4a525c",
    "#5b6b7f",
    "#ffffff",
    "#eef3fa",
    "#e9f3e6",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text in a box."""

    text: str
    size: int
    colour: str = INK
    bold: bool = False

    @property
    def width(self) -> float:
        return cell_len(self.text) * self.size * WIDEST


@dataclass(frozen=True, slots=True)
class Box:
    """A layer with its place: `x` and `y` are its upper left corner."""

    layer: Layer
    lines: tuple[Line, ...]
    x: float
    y: float
    width: float
    height: float
    below: tuple["Box", ...] = ()

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    def walk(self) -> Iterator["Box"]:
        yield self
        for box in self.below:
            yield from box.walk()


def _lines_of(layer: Layer) -> tuple[Line, ...]:
    lines = [Line(layer.layer, TITLE, bold=True)]
    # A line ends between policies, and within one only where it would not fit by itself.
    whole = (
        each.replace(" ", UNBROKEN) if len(each) < POLICY_WIDTH else each for each in layer.policies
    )
    for text in textwrap.wrap(", ".join(whole), POLICY_WIDTH, break_on_hyphens=False):
        lines.append(Line(text.replace(UNBROKEN, " "), POLICY))
    lines += [Line(each, CAPTION, FAINT) for each in textwrap.wrap(layer.caption, CAPTION_WIDTH)]
    return tuple(lines)


def _height(lines: tuple[Line, ...]) -> float:
    return sum(line.size * LINE for line in lines) + 2 * PADDING


def _place(layer: Layer, x: float, y: float) -> tuple[Box, float]:
    """The box of a layer with all below it, and the width that they take together."""
    lines = _lines_of(layer)
    width = max(line.width for line in lines) + 2 * PADDING
    height = _height(lines)
    children: list[Box] = []
    right = x
    for child in layer.below:
        box, taken = _place(child, right, y + height + RISE)
        children.append(box)
        right += taken + GAP
    span = max(right - GAP - x, 0.0)
    if width > span:  # the box is wider than what is below: that goes to its middle
        children = [_moved(box, (width - span) / 2) for box in children]
        left = x
    else:
        middle = (children[0].middle + children[-1].middle) / 2
        left = min(max(middle - width / 2, x), x + span - width)
    return Box(layer, lines, left, y, width, height, tuple(children)), max(width, span)


def _moved(box: Box, by: float) -> Box:
    below = tuple(_moved(each, by) for each in box.below)
    return Box(box.layer, box.lines, box.x + by, box.y, box.width, box.height, below)


def lay_out(layer: Layer, y: float = 0.0) -> Box:
    """The boxes of a composition, the topmost at `y`."""
    return _place(layer, MARGIN, y)[0]


def draw(name: str, caption: str, layer: Layer) -> str:
    """The picture as an SVG document."""
    wrapped = textwrap.wrap(caption, HEAD_WIDTH)
    head = [Line(name, HEAD, bold=True), *(Line(each, POLICY, FAINT) for each in wrapped)]
    top = MARGIN + sum(line.size * LINE for line in head)
    root = lay_out(layer, top + PADDING)
    boxes = list(root.walk())
    right = max(*(box.x + box.width for box in boxes), *(MARGIN + line.width for line in head))
    width = right + MARGIN
    height = max(box.y + box.height for box in boxes) + MARGIN
    words = " on ".join(box.layer.title for box in boxes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-labelledby="title desc" '
        f'font-family="{escape(FONT)}">',
        f'<title id="title">{_text(f"The layers of {name}")}</title>',
        f'<desc id="desc">{_text(f"{caption}. From the top: {words}.")}</desc>',
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        *_written(head, MARGIN, MARGIN),
        *(_edge(box, child) for box in boxes for child in box.below),
        *(part for box in boxes for part in _drawn(box)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _drawn(box: Box) -> Iterator[str]:
    fill = RUNG if box.below else SOURCE
    yield f'<g class="layer"><title>{_text(box.layer.title)}</title>'
    yield (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="5" fill="{fill}" stroke="{EDGE}"/>'
    )
    yield from _written(box.lines, box.x + PADDING, box.y + PADDING)
    yield "</g>"


def _written(lines: "list[Line] | tuple[Line, ...]", x: float, y: float) -> Iterator[str]:
    for line in lines:
        y += line.size * LINE
        weight = ' font-weight="bold"' if line.bold else ""
        yield (
            f'<text x="{x:.1f}" y="{y - line.size * 0.3:.1f}" font-size="{line.size}" '
            f'fill="{line.colour}"{weight}>{_text(line.text)}</text>'
        )


def _edge(box: Box, child: Box) -> str:
    """From the bottom of a box to the top of one below it, at right angles."""
    start, end = box.y + box.height, child.y
    turn = (start + end) / 2
    way = f"M{box.middle:.1f} {start:.1f}V{turn:.1f}H{child.middle:.1f}V{end:.1f}"
    return f'<path d="{way}" fill="none" stroke="{EDGE}" stroke-width="1.5"/>'


def _text(text: str) -> str:
    """Text for XML, without the characters that XML cannot hold."""
    return escape("".join(each if each.isprintable() else " " for each in text))
