# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A look at a process on a terminal: its memory by kind, glibc's arenas, and the verdict."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.look.document import Access, Arena, Glibc, Kind, Look
from heapwright.base.quantities import several, size

MOST_ARENAS = 8
"""Lines of arenas; the others are one line."""
MOST_GROUPS = 3
_STYLES = {
    Kind.LEAK: "bold red",
    Kind.RETENTION: "bold yellow",
    Kind.FRAGMENTATION: "bold yellow",
    Kind.LIVE: "bold green",
    Kind.ELSEWHERE: "bold",
    Kind.UNKNOWN: "bold",
}
_NAMES = {
    "heap": "main heap",
    "arenas": "arenas of threads",
    "blocks": "large blocks",
    "anonymous": "other anonymous",
    "stacks": "stacks",
    "code": "code and constants",
    "data": "data of files with code",
    "files": "mapped files",
    "shared": "shared memory",
    "kernel": "kernel",
}
_SUMS = _NAMES | {"anonymous": "anonymous (heap, stacks, data)"}
"""Without the right to read the memory, which kind of anonymous memory it is remains unknown."""


def print_look(console: Console, found: Look, *, quiet: bool = False) -> None:
    """All tables and the verdict; `quiet`: the verdict's sentence alone."""
    if not quiet:
        _tables(console, found)
    console.print(Text(found.verdict.sentence, style=_STYLES[found.verdict.kind]), soft_wrap=True)
    if quiet:
        return
    if found.verdict.remedy:
        console.print(Text(found.verdict.remedy), soft_wrap=True)
    for note in found.notes:
        console.print(Text(f"- {note}"), soft_wrap=True)


def _tables(console: Console, found: Look) -> None:
    if found.categories:
        console.print(_categories(found))
        if found.access is Access.STATUS and found.threads is not None:
            console.print(Text(f"threads {found.threads:,}"))
        console.print()
    if found.glibc is not None and any(each.heaps for each in found.glibc.arenas):
        console.print(_arenas(found.glibc))
        console.print()
    if found.leaks is not None and found.leaks.blocks:
        for line in _lost(found):
            console.print(Text(line), soft_wrap=True)
        console.print()


def _categories(found: Look) -> Table:
    table = _table("memory", "resident", "swapped", "mapped", "mappings")
    if found.access is Access.STATUS:
        for each in found.categories:
            name = _SUMS.get(each.name, each.name)
            table.add_row(name, size(each.resident_bytes), *["-"] * 3)
    names = _NAMES if found.foreign is None else _NAMES | {"heap": "heap by brk"}
    for each in found.categories if found.access is Access.FULL else ():
        if each.resident_bytes or each.swapped_bytes:
            table.add_row(
                names.get(each.name, each.name),
                size(each.resident_bytes),
                size(each.swapped_bytes),
                size(each.bytes),
                f"{each.mappings:,}",
            )
    table.add_row("all", size(found.resident_bytes), size(found.swapped_bytes), "", "")
    return table


def _arenas(glibc: Glibc) -> Table:
    table = _table("arena", "live", "blocks", "cached", "free", "top", "resident", "trim releases")
    used = sorted(
        (each for each in glibc.arenas if each.heaps),
        key=lambda each: (not each.is_main, -each.resident_bytes),
    )
    for number, each in enumerate(used[:MOST_ARENAS]):
        table.add_row("main" if each.is_main else str(number), *_columns([each]))
    if len(used) > MOST_ARENAS:
        rest = used[MOST_ARENAS:]
        table.add_row(f"{len(rest)} more", *_columns(rest))
    if glibc.mapped.blocks:
        table.add_row(
            "large blocks",
            size(glibc.mapped.bytes),
            f"{glibc.mapped.blocks:,}",
            *[""] * 3,
            size(glibc.mapped_resident_bytes),
            "",
        )
    return table


def _columns(arenas: Sequence[Arena]) -> list[str]:
    return [
        size(sum(each.live.bytes for each in arenas)),
        f"{sum(each.live.blocks for each in arenas):,}",
        size(sum(each.cached.bytes + each.fast.bytes for each in arenas)),
        size(sum(each.free.bytes for each in arenas)),
        size(sum(each.top_bytes for each in arenas)),
        size(sum(each.resident_bytes for each in arenas)),
        size(sum(each.released_bytes for each in arenas)),
    ]


def _lost(found: Look) -> list[str]:
    assert found.leaks is not None
    lines = [
        f"No pointer leads to {several(found.leaks.blocks, 'block')}, {size(found.leaks.bytes)}:"
    ]
    for group in found.leaks.groups[:MOST_GROUPS]:
        kind = f", which begin with an address in {group.object}" if group.object else ""
        lines.append(
            f"  {several(group.blocks, 'block')} of {group.block_bytes:,} bytes, "
            f"such as {group.example:#x}{kind}"
        )
    rest = len(found.leaks.groups) - MOST_GROUPS
    return [*lines, f"  and blocks of {several(rest, 'other kind')}"] if rest > 0 else lines


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    return table
