# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The flame graph: the functions that requested memory, and their callers.

A box is a function. Its width is what it and the calls within it requested. Its callees are below
it. It can be measured by bytes, by calls, by what was never freed, and by what was live at
the peak. With the live bytes of sites over time, it can also show a moment, or the growth between
two moments. A click, or Enter, makes a
box as wide as the picture. The arrow keys move from box to box, and each box has a description. A
search marks functions by name. Functions of the standard libraries are hidden until the reader
shows them. A table of functions has the same figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from heapwright.artefacts.profile.calls import Calls
from heapwright.report.flame.merge import Box, Sums, Tree, by_function, own_tree, tree_of
from heapwright.report.pages.frame import embedded
from heapwright.report.pages.parts import Data, in_figures
from heapwright.report.profile import words

STYLE = Path(__file__).with_name("flame.css").read_text(encoding="utf-8")
SCRIPT = Path(__file__).with_name("flame.js").read_text(encoding="utf-8")
MOMENT = "moment"
LISTED = 40


@dataclass(frozen=True, slots=True)
class Course:
    """The live bytes of sites at some moments of the run."""

    times_s: tuple[float, ...]
    calls: tuple[int, ...]
    """Of each site its place in the nodes of `Calls`."""
    live: tuple[tuple[int, ...], ...]
    """Of each site its live bytes at each of the times."""
    names: tuple[str, ...] = ()
    """Of the times, as a reader knows them; empty texts where they have none."""


class Measure(NamedTuple):
    """What the width of a box can mean."""

    field: str
    """Of `Sums`."""
    text: str
    is_memory: bool


MEASURES = (
    Measure("bytes", "bytes", True),
    Measure("allocations", "calls", False),
    Measure("never_freed_bytes", "never freed, bytes", True),
    Measure("never_freed", "never freed", False),
    Measure("at_peak_bytes", "live at the peak, bytes", True),
    Measure("at_peak", "live at the peak", False),
    Measure("temporary", "temporary allocations", False),
)


def flame_graph(calls: Calls, course: Course | None = None, name: str = "flame") -> str:
    """The figure and the table of its functions; nothing if there are no calls."""
    drawn = picture(calls, MEASURES, course, name)
    return drawn and drawn + in_figures(
        functions(trees_of(calls)[0].boxes),
        "Functions that request most, calls of the standard libraries included",
    )


def trees_of(calls: Calls) -> list[Tree]:
    """The tree without standard libraries, if they are in the tree, and the whole tree."""
    whole = tree_of(calls)
    if not whole.boxes:
        return [whole]
    own = own_tree(whole, calls)
    return [own, whole] if len(own.boxes) < len(whole.boxes) else [whole]


def picture(
    calls: Calls, measures: Sequence[Measure], course: Course | None = None, name: str = "flame"
) -> str:
    """The figure, first by the first of the measures; nothing if there are no calls."""
    trees = trees_of(calls)
    if len(trees[-1].boxes) < 2:
        return ""
    merged = trees[0].boxes
    if course is None or not course.live or len(course.times_s) < 2:
        course = Course((), (), ())
    data = embedded(
        {
            "trees": [_data(tree, course) for tree in trees],
            "times": [round(time, 6) for time in course.times_s],
            "live": course.live,
            "moments": course.names,
        }
    )
    libraries = (
        '<label><input type="checkbox"> functions of the standard libraries</label> '
        if len(trees) > 1
        else ""
    )
    options = "".join(
        f'<option value="{Sums._fields.index(each.field)}" '
        f'data-memory="{str(each.is_memory).lower()}">{escape(each.text)}</option>'
        for each in measures
        if getattr(merged[0].sums, each.field)
    )
    moments = ""
    if course.live:
        options += f'<option value="{MOMENT}" data-memory="true">live at a moment, bytes</option>'
        last = len(course.times_s) - 1
        moments = (
            f'<div class="flame-moments" hidden><label>moment <input type="range" max="{last}" '
            f'value="{last}"></label> <label>growth since <input type="range" min="-1" '
            f'max="{last}" value="-1"></label></div>'
        )
    label = (
        f"Flame graph of {words.count(len(merged) - 1)} functions within functions. Arrow keys "
        "walk through it, Enter widens a box, Escape shows all."
    )
    return (
        f'<div class="flame" id="{escape(name, quote=True)}"><div class="flame-tools">'
        f"<label>measured by <select>{options}</select></label> "
        '<label>search <input type="search" spellcheck="false"></label> '
        f'{libraries}<button type="button">show all</button></div>{moments}'
        '<div class="flame-picture" tabindex="0" role="application" '
        f'aria-roledescription="flame graph" aria-label="{escape(label, quote=True)}">'
        '<svg aria-hidden="true"></svg></div>'
        '<output aria-live="polite">&nbsp;</output>'
        f'<script type="application/json">{data}</script></div>'
    )


def _data(tree: Tree, course: Course) -> dict[str, object]:
    """Column by column, each name once."""
    merged = tree.boxes
    names = {name: place for place, name in enumerate(dict.fromkeys(box.name for box in merged))}
    return {
        "names": list(names),
        "parent": [box.parent for box in merged],
        "name": [names[box.name] for box in merged],
        "sums": [[box.sums[place] for box in merged] for place in range(len(Sums._fields))],
        "sites": [tree.places[call] for call in course.calls],
    }


def functions(merged: list[Box]) -> Data:
    """The functions that request most by themselves."""
    found = sorted(by_function(merged).items(), key=lambda each: (-each[1].bytes, each[0]))
    rows = [
        (
            name,
            words.memory(sums.bytes),
            words.count(sums.allocations),
            words.memory(sums.at_peak_bytes),
            words.memory(sums.never_freed_bytes),
        )
        for name, sums in found
        if sums.allocations > 0
    ]
    return Data(("function", "bytes", "calls", "live at the peak", "never freed"), rows[:LISTED])
