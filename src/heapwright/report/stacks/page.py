# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The call stacks of another tool as a page: totals, largest holders, flame graph, notes."""

from html import escape

from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.artefacts.stacks.tree import without_small
from heapwright.report.flame import component
from heapwright.report.flame.merge import by_function
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, Data, contents, in_figures, section, table
from heapwright.report.pages.vega import BLUE
from heapwright.report.profile import words
from heapwright.report.profile.curves import Axis, palette, steps
from heapwright.report.profile.page import STYLE
from heapwright.report.stacks.holders import Holder, holders
from heapwright.report.stacks.summary import words_of

LISTED = 30
MOST_FRAMES = 24
SHOWN = 40
SMALLEST = 5000
"""A call with less than one in this number of all amounts is too narrow to be seen."""


def stacks_page(profile: StackProfile, name: str) -> str:
    """The whole page. `name` is that of the file."""
    charts = Charts()
    parts = [
        ("holders", f"Largest holders: {_subject(profile, profile.main)}", _holders(profile)),
        ("memory", "Live memory over time", _memory(profile, charts)),
        ("sites", "Call sites", _flame(profile)),
        ("notes", "What to know of this file", _notes(profile)),
    ]
    shown = [part for part in parts if part[2]]
    body = "\n".join(
        (
            _head(profile, name),
            contents([(place, heading) for place, heading, _ in shown]),
            *(section(place, heading, inner) for place, heading, inner in shown),
        )
    )
    return frame(
        f"Heap profile of {name}",
        body,
        charts,
        styles=(STYLE, component.STYLE),
        scripts=(component.SCRIPT,),
    )


def _subject(profile: StackProfile, amount: Amount) -> str:
    return profile.words(amount).removesuffix(", bytes")


def _head(profile: StackProfile, name: str) -> str:
    facts = [f"Format: {profile.source}", profile.began]
    tiles = "\n".join(
        f"<div><dt>{escape(_subject(profile, each))}</dt>"
        f"<dd>{escape(_text(each, profile.total(each)))}{_bounds(profile, each)}</dd></div>"
        for each in profile.ordered
    )
    return (
        "<h1>What holds the memory of this program?</h1>\n"
        f'<p class="command">{escape(" ".join(profile.command) or name)}</p>\n'
        f'<p class="dim">{escape(". ".join(fact for fact in facts if fact))}.</p>\n'
        f'<dl class="tiles">\n{tiles}\n</dl>'
    )


def _text(amount: Amount, value: int) -> str:
    return words.memory(value) if amount.is_memory else f"{value:,} blocks"


def _bounds(profile: StackProfile, amount: Amount) -> str:
    """The interval of a sampled total, below it."""
    bounds = profile.bounds(amount, profile.total(amount), profile.variances.get(amount, ()))
    return f'<br><small class="dim">{escape(words_of(bounds))}</small>' if bounds else ""


def _holders(profile: StackProfile) -> str:
    found = holders(profile, profile.main)
    whole = max(profile.total(profile.main), 1)
    rows = [
        (
            f"<code>{escape(each.place)}</code>",
            escape(words.memory(each.bytes)),
            *([escape(words_of(each.bounds))] if profile.variances else []),
            escape(words.share(each.bytes / whole)),
            "-" if each.blocks is None else f"{each.blocks:,}",
            _chain(each),
        )
        for each in found[:LISTED]
    ]
    if not rows:
        return "<p>No memory was live.</p>"
    intervals = ("95 % interval",) if profile.variances else ()
    columns = ("asked for by", "memory", *intervals, "share", "blocks", "called by")
    more = len(found) - LISTED
    return table(columns, rows, "figures places", "Stacks that hold most memory") + (
        f'<p class="dim">And {more:,} more stacks.</p>' if more > 0 else ""
    )


def _chain(holder: Holder) -> str:
    shown = "<br>".join(f"<code>{escape(each)}</code>" for each in holder.frames[:MOST_FRAMES])
    deeper = len(holder.frames) - MOST_FRAMES
    rest = f'<br><span class="dim">and {deeper:,} more</span>' if deeper > 0 else ""
    return f"<details><summary>{len(holder.frames):,} calls</summary>{shown}{rest}</details>"


def _memory(profile: StackProfile, charts: Charts) -> str:
    if len(profile.timeline) < 2:
        return ""
    unit = profile.time_unit
    size, memory_unit = words.unit_for(max(each.live_bytes for each in profile.timeline))
    values = [
        {"of": "live", "x": each.time, "y": each.live_bytes / size} for each in profile.timeline
    ]
    chart = steps(
        values,
        palette(("live",), (BLUE,)),
        Axis(f"time ({unit})", "~f" if unit == "s" else "~s"),
        Axis(f"live ({memory_unit})"),
        form="filled",
    )
    shown = profile.timeline[:: -(-len(profile.timeline) // SHOWN)]
    data = Data(
        (f"time ({unit})", "live"),
        [(f"{each.time:,.6g}", words.memory(each.live_bytes)) for each in shown],
    )
    return charts.place("live-memory", chart, f"Live memory over time ({unit})", data)


def _flame(profile: StackProfile) -> str:
    measures = [
        component.Measure(each.value, profile.words(each), each.is_memory)
        for each in profile.ordered
    ]
    calls = without_small(profile.calls, SMALLEST)
    drawn = component.picture(calls, measures)
    if not drawn:
        return ""
    sums = by_function(component.trees_of(calls)[0].boxes).items()
    listed = sorted(sums, key=lambda each: -getattr(each[1], profile.main.value))
    rows = [
        (name, *(_text(each, getattr(own, each.value)) for each in profile.ordered))
        for name, own in listed[: component.LISTED]
        if any(own)
    ]
    headings = ("function", *(profile.words(each) for each in profile.ordered))
    return (
        "<p>The width of a box is the amount of the function and its callees.</p>\n"
        + drawn
        + in_figures(Data(headings, rows), "Functions with most memory")
    )


def _notes(profile: StackProfile) -> str:
    lines = [*([f"Sampled: {profile.sampling}"] if profile.sampling else []), *profile.notes]
    if not lines:
        return ""
    return "<ul>" + "\n".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
