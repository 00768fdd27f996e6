# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The flame graph: the functions that requested memory, and their callers.

A box is a function. Its width is what it and the calls within it requested. Its callees are below
it. It can be measured by bytes, by calls, and by what was never freed. A click, or Enter, makes a
box as wide as the picture. The arrow keys move from box to box, and each box has a description. A
search marks functions by name. Functions of the standard libraries are hidden until the reader
shows them. A table of functions has the same figures.
"""

from html import escape
from pathlib import Path

from heapwright.artefacts.profile.calls import Calls
from heapwright.report.flame.merge import Box, boxes, by_function, own_boxes
from heapwright.report.pages.frame import embedded
from heapwright.report.pages.parts import Data, in_figures
from heapwright.report.profile import words

STYLE = Path(__file__).with_name("flame.css").read_text(encoding="utf-8")
SCRIPT = Path(__file__).with_name("flame.js").read_text(encoding="utf-8")
MEASURES = (("bytes", True), ("calls", False), ("never freed, bytes", True), ("never freed", False))
"""The measures of boxes, in the order of `Sums`, and whether each is memory."""
LISTED = 40


def flame_graph(calls: Calls, name: str = "flame") -> str:
    """The figure; nothing if there are no calls."""
    whole = boxes(calls)
    if len(whole) < 2:
        return ""
    merged = own_boxes(whole, calls)
    trees = [merged, whole] if len(merged) < len(whole) else [whole]
    data = embedded([_data(tree) for tree in trees])
    libraries = (
        '<label><input type="checkbox"> functions of the standard libraries</label> '
        if len(trees) > 1
        else ""
    )
    measures = [
        (place, text, is_memory)
        for place, (text, is_memory) in enumerate(MEASURES)
        if merged[0].sums[place]
    ]
    options = "".join(
        f'<option value="{place}" data-memory="{str(is_memory).lower()}">{escape(text)}</option>'
        for place, text, is_memory in measures
    )
    label = (
        f"Flame graph of {words.count(len(merged) - 1)} functions within functions. Arrow keys "
        "walk through it, Enter widens a box, Escape shows all."
    )
    return (
        f'<div class="flame" id="{escape(name, quote=True)}"><div class="flame-tools">'
        f"<label>measured by <select>{options}</select></label> "
        '<label>search <input type="search" spellcheck="false"></label> '
        f'{libraries}<button type="button">show all</button></div>'
        '<div class="flame-picture" tabindex="0" role="application" '
        f'aria-roledescription="flame graph" aria-label="{escape(label, quote=True)}">'
        '<svg aria-hidden="true"></svg></div>'
        '<output aria-live="polite">&nbsp;</output>'
        f'<script type="application/json">{data}</script></div>'
        + in_figures(
            functions(merged),
            "Functions that request most, calls of the standard libraries included",
        )
    )


def _data(merged: list[Box]) -> dict[str, object]:
    """Column by column, each name once."""
    names = {name: place for place, name in enumerate(dict.fromkeys(box.name for box in merged))}
    return {
        "names": list(names),
        "parent": [box.parent for box in merged],
        "name": [names[box.name] for box in merged],
        "sums": [[box.sums[place] for box in merged] for place in range(len(MEASURES))],
    }


def functions(merged: list[Box]) -> Data:
    """The functions that request most by themselves."""
    found = sorted(by_function(merged).items(), key=lambda each: (-each[1].bytes, each[0]))
    rows = [
        (
            name,
            words.memory(sums.bytes),
            words.count(sums.allocations),
            words.memory(sums.never_freed_bytes),
        )
        for name, sums in found
        if sums.allocations > 0
    ]
    return Data(("function", "bytes", "calls", "never freed"), rows[:LISTED])
