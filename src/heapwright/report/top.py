# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The screen of `heapwright top`, and its lines for a pipe. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.stacks.profile import Bounds
from heapwright.base.quantities import several, size

NARROW = 60
"""Below this width the column of the change since the start is left out."""
MOST_SIZES = 12
LINE_SITES = 3
"""Sites in one line for a pipe."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line: a figure of now, its rate, and its change since the start of top."""

    name: str
    now: float | None
    """None: unknown."""
    rate: float | None = None
    change: float | None = None
    is_bytes: bool = True


@dataclass(frozen=True, slots=True)
class SizeLine:
    """The live blocks of a class of sizes."""

    least: int
    blocks: int
    bytes: int
    rate: float | None
    """Bytes per second between the last two walks."""


@dataclass(frozen=True, slots=True)
class SiteLine:
    """The live memory of a call site."""

    calls: tuple[str, ...]
    """Innermost first."""
    bytes: int
    bounds: Bounds | None
    """The 95 % interval of an estimate from samples."""
    rate: float | None
    """Bytes per second between the last two readings."""


@dataclass(frozen=True, slots=True)
class Screen:
    """All that is shown at a moment."""

    pid: int
    name: str
    threads: int
    processor: float | None
    """Of the process: share of one processor."""
    cost: float | None
    """Of top itself. None on the first screen."""
    figures: Sequence[Figure]
    sizes: Sequence[SizeLine]
    walk_every: float | None
    """Seconds between walks of the heap; None before the second one."""
    notes: Sequence[str]
    sites: Sequence[SiteLine] = ()


def drawn(screen: Screen, width: int) -> Group:
    """The screen for a terminal."""
    head = Text(f"{screen.name} ({screen.pid}), {several(screen.threads, 'thread')}", style="bold")
    if screen.processor is not None:
        head.append(f", processor {screen.processor:.0%}", style="not bold")
    parts: list[Text | Table] = [head, Text(), _figures(screen, width), Text()]
    if screen.sites:
        parts += [_sites(screen, width), Text()]
    elif screen.sizes:
        parts += [_sizes(screen), Text()]
    parts += [Text(f"- {note}", style="dim") for note in screen.notes]
    foot = []
    if screen.cost is not None:
        foot.append(f"top uses {screen.cost:.1%} of a processor")
    if screen.walk_every is not None:
        foot.append(f"live and held are read every {screen.walk_every:.1f} s")
    if foot:
        parts.append(Text("; ".join((*foot, "Ctrl-C ends")), style="dim"))
    return Group(*parts)


def line(screen: Screen, when: str) -> str:
    """One line for a pipe or a file."""
    words = [when]
    for each in screen.figures:
        words.append(f"{each.name} {_amount(each)}")
        if each.rate is not None:
            words.append(f"({_rate(each)})")
    words += [f"at {each.calls[0]} {size(each.bytes)}" for each in screen.sites[:LINE_SITES]]
    return "  ".join(words)


def _figures(screen: Screen, width: int) -> Table:
    wide = width >= NARROW
    table = _table("", "now", "per second", *(["since the start"] if wide else []))
    for each in screen.figures:
        change = "" if each.change is None else _signed(each.change, each.is_bytes)
        table.add_row(each.name, _amount(each), _rate(each), *([change] if wide else []))
    return table


def _sizes(screen: Screen) -> Table:
    table = _table("size", "blocks", "live", "per second")
    largest = sorted(screen.sizes, key=lambda each: each.bytes, reverse=True)[:MOST_SIZES]
    for each in sorted(largest, key=lambda one: one.least):
        growth = "" if each.rate is None else _signed(each.rate, is_bytes=True)
        table.add_row(f"from {size(each.least)}", f"{each.blocks:,}", size(each.bytes), growth)
    return table


def _sites(screen: Screen, width: int) -> Table:
    """Each site with as many of its callers as fit."""
    has_bounds = width >= NARROW and any(each.bounds for each in screen.sites)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("live", *(["from", "to"] if has_bounds else []), "per second"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("site", no_wrap=True, overflow="ellipsis", ratio=1)
    for each in screen.sites:
        bounds = each.bounds or (each.bytes, each.bytes)
        growth = "" if each.rate is None else _signed(each.rate, is_bytes=True)
        interval = [size(each) for each in bounds] if has_bounds else []
        table.add_row(size(each.bytes), *interval, growth, Text(" ← ".join(each.calls)))
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(first, no_wrap=True)
    for each in others:
        table.add_column(each, justify="right", no_wrap=True)
    return table


def _amount(figure: Figure) -> str:
    if figure.now is None:
        return "-"
    return size(int(figure.now)) if figure.is_bytes else f"{figure.now:,.0f}"


def _rate(figure: Figure) -> str:
    return "" if figure.rate is None else _signed(figure.rate, figure.is_bytes)


def _signed(amount: float, is_bytes: bool) -> str:
    whole = round(amount)
    if whole == 0:
        return "0"
    text = size(abs(whole)) if is_bytes else f"{abs(whole):,}"
    return f"{'+' if whole > 0 else '-'}{text}"
