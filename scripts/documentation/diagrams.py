# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The diagrams of the pages, as SVG that is readable on a phone.

    PYTHONPATH=scripts python -m documentation.diagrams

writes docs/diagrams/*.svg. The files are committed, and a test compares them with this program.
"""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "diagrams"
WIDTH = 420
LICENCE = "SPDX-FileCopyrightText: The Heapwright authors; SPDX-License-Identifier: Apache-2.0"
COLOURS = {
    "step": ("#e0f2f1", "#00796b"),
    "fast": ("#fff3e0", "#e65100"),
    "data": ("#e8eaf6", "#3949ab"),
    "end": ("#f5f5f5", "#616161"),
}
"""Fill and border of each kind of box."""


@dataclass
class Drawing:
    """A column of boxes, with an arrow and its label between two of them."""

    title: str
    parts: list[str] = field(default_factory=list)
    height: int = 12

    def box(self, kind: str, name: str, *lines: str) -> None:
        """Add a box with a name and lines below it."""
        fill, border = COLOURS[kind]
        high = 30 + 17 * len(lines)
        self.parts.append(
            f'<rect x="20" y="{self.height}" width="{WIDTH - 40}" height="{high}" rx="6" '
            f'fill="{fill}" stroke="{border}"/>'
        )
        self._text(WIDTH // 2, self.height + 20, name, 'font-weight="bold"')
        for number, line in enumerate(lines):
            self._text(WIDTH // 2, self.height + 38 + 17 * number, line, 'font-size="13"')
        self.height += high

    def arrow(self, label: str = "") -> None:
        """Add an arrow downwards from the last box to the next."""
        top, bottom = self.height, self.height + 34
        self.parts.append(
            f'<path d="M{WIDTH // 2} {top}V{bottom - 7}" stroke="#424242" stroke-width="1.5"/>'
            f'<path d="M{WIDTH // 2 - 5} {bottom - 9}h10l-5 8z" fill="#424242"/>'
        )
        if label:
            self._text(WIDTH // 2 + 12, top + 20, label, 'font-size="13" text-anchor="start"')
        self.height = bottom

    def _text(self, x: int, y: int, text: str, style: str) -> None:
        anchor = "" if "text-anchor" in style else ' text-anchor="middle"'
        self.parts.append(f'<text x="{x}" y="{y}"{anchor} {style}>{escape(text)}</text>')

    def svg(self) -> str:
        """The picture."""
        size = f'viewBox="0 0 {WIDTH} {self.height + 12}" width="{WIDTH}"'
        body = "\n".join(self.parts)
        return (
            f"<!-- {LICENCE} -->\n"
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
            f'font-family="sans-serif" font-size="15" fill="#212121">\n'
            f"<title>{escape(self.title)}</title>\n"
            f'<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'
        )


def layout() -> Drawing:
    """Which folders build on which."""
    drawing = Drawing("The layout: each folder uses those above it")
    drawing.box("data", "catalogue/", "allocators, programs, studies, loads, kernels")
    drawing.arrow("read by the build and the tool")
    drawing.box("step", "include/heapwright/", "layers, compositions, C headers")
    drawing.arrow("included by")
    drawing.box("step", "native/  workloads/  apps/", "libraries, measuring and measured programs")
    drawing.arrow("started by")
    drawing.box("step", "src/heapwright/", "base, artefacts, stages, commands, cli")
    drawing.arrow("writes")
    drawing.box("end", "tables, pages, JSON, built allocators")
    return drawing


def one_malloc() -> Drawing:
    """What serves malloc(20) in granary."""
    drawing = Drawing("One malloc through the steps of granary")
    drawing.box("end", "malloc(20)", "bound to libheapwright-granary.so")
    drawing.arrow()
    drawing.box("fast", "ANSIWrapper", "the C rules for sizes and null")
    drawing.arrow()
    drawing.box("fast", "HandlerSafeHeap", "a signal handler finds the lists hidden")
    drawing.arrow()
    drawing.box(
        "fast", "OwnerCacheHeap", "pops the thread's list of 32-byte objects", "12 instructions"
    )
    drawing.arrow("the list is empty: take a batch")
    drawing.box("step", "SplitHeap", "up to 16 KiB: small; above: runs of units")
    drawing.arrow("small")
    drawing.box(
        "step", "HoardHeap", "a superblock of the thread's heap,", "else one of the global heap"
    )
    drawing.arrow("no superblock has a free slot")
    drawing.box("step", "ExtentHeap", "a unit of 32 KiB out of a chunk")
    drawing.arrow("no chunk has a free unit")
    drawing.box("end", "mmap", "a chunk from the system")
    return drawing


def artefacts() -> Drawing:
    """From a program to a page, with the verb of each step."""
    drawing = Drawing("The flow of artefacts")
    drawing.box("end", "program", "a command, a service, a process")
    drawing.arrow("record")
    drawing.box("data", "trace", "all requests of all threads")
    drawing.arrow("profile")
    drawing.box("data", "profile", "sizes, lifetimes, sites; explain reads it, too")
    drawing.arrow("synth")
    drawing.box("data", "workload", "a load of any length and number of threads")
    drawing.arrow("replay, compare, study run")
    drawing.box("data", "runs", "raw figures of randomised blocks")
    drawing.arrow("analyse")
    drawing.box("data", "effects", "ratios with intervals, ranks, a verdict")
    drawing.arrow("report, gate")
    drawing.box("end", "page, sentence, exit status")
    return drawing


def diagrams() -> dict[str, str]:
    """All diagrams by the names of their files."""
    made = {"layout": layout(), "one-malloc": one_malloc(), "artefacts": artefacts()}
    return {f"{name}.svg": drawing.svg() for name, drawing in made.items()}


if __name__ == "__main__":
    for name, text in diagrams().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
