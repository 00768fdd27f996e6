# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright top`, after its options are read: read, wait, draw.

Two budgets hold the cost below 2 % of a processor. One is for the walks of the heap. The other is
for the cheap figures and the drawing.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import typer
from rich.live import Live

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.interruption import ended_as_interrupted
from heapwright.commands.text import printing
from heapwright.commands.top_sites import Sites, sites_of
from heapwright.look.process import is_32_bit, missing_right, read_process
from heapwright.look.scan import Denied
from heapwright.look.watch import (
    Budget,
    Heap,
    Kernel,
    processor_time,
    rate,
    read_kernel,
    walk,
)
from heapwright.report.console import make_console
from heapwright.report.top import Figure, Screen, SizeLine, drawn, line

WALKS = 0.01
"""Share of one processor for the walks of the heap."""
DRAWING = 0.008
SHORTEST_WALK_S = 1.0
HALF = 0.5
"""With call sites, their readings have the other half of the share of the walks."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    pid: int
    interval_s: float
    once: bool
    by_site: bool = False


class Watched:
    """The process, with what was read of it so far."""

    def __init__(self, pid: int, sites: Sites | None = None) -> None:
        self.pid = pid
        share = WALKS if sites is None else WALKS * HALF
        self.walks = Budget(share, SHORTEST_WALK_S)
        self._site_reads = Budget(share, SHORTEST_WALK_S)
        self._site_reads.due = time.monotonic() + SHORTEST_WALK_S  # the first one is taken
        self._sites_read = sites
        self._begun = time.monotonic()
        self._cpu = 0.0
        self._first: Kernel | None = None
        self._kernels: tuple[Kernel, ...] = ()
        self._first_heap: Heap | None = None
        self._heaps: tuple[Heap, ...] = ()
        self._note = ""
        self._is_denied = False

    def read(self) -> Screen:
        """The figures of now. Raises HeapwrightError if the process has ended."""
        now = read_kernel(self.pid)
        self._first = self._first or now
        if now.started != self._first.started:
            raise HeapwrightError(f"process {self.pid} has ended, and another has its number")
        self._kernels = (*self._kernels[-1:], now)
        if not self._is_denied and now.when >= self.walks.due:
            self._walk()
        if self._sites_read is not None and now.when >= self._site_reads.due:
            self._site_reads.begin()
            self._sites_read.read()
            self._site_reads.end()
        return self._screen()

    def _walk(self) -> None:
        self.walks.begin()
        found = walk(self.pid)
        self.walks.end()
        if isinstance(found, Denied):
            self._is_denied = True
            why, remedy = missing_right(read_process(self.pid), verb="top")
            self._note = f"live and held memory are unknown: {why}; {remedy}"
        elif found is None:
            self._note = (
                ""
                if self._heaps
                else (
                    "live and held memory are unknown: neither glibc nor granary serves malloc; "
                    f"heapwright look {self.pid} names the allocator"
                )
            )
        else:
            self._note = ""
            self._first_heap = self._first_heap or found
            self._heaps = (*self._heaps[-1:], found)

    def _screen(self) -> Screen:
        now = self._kernels[-1]
        seconds = now.when - self._kernels[0].when
        used = rate(self._kernels[0].processor_s, now.processor_s, seconds)
        sites = self._sites_read
        notes = (self._note, "" if sites is None else sites.note)
        return Screen(
            pid=self.pid,
            name=now.name,
            threads=now.threads,
            processor=used,
            cost=self._cost(),
            figures=tuple(self._figures()),
            sizes=tuple(self._sizes()),
            walk_every=self._heaps[-1].when - self._heaps[0].when if len(self._heaps) > 1 else None,
            notes=tuple(note for note in notes if note),
            sites=() if sites is None else sites.lines,
        )

    def _cost(self) -> float | None:
        """Of one processor, since the first screen: the start of Python is not counted."""
        passed = time.monotonic() - self._begun
        if not self._cpu:
            self._cpu = processor_time()
            self._begun = time.monotonic()
            return None
        return rate(self._cpu, processor_time(), passed)

    def _figures(self) -> Iterator[Figure]:
        assert self._first is not None
        before, now, first = self._kernels[0], self._kernels[-1], self._first
        seconds = now.when - before.when
        yield Figure(
            "resident",
            now.resident,
            rate(before.resident, now.resident, seconds),
            now.resident - first.resident,
        )
        if now.swapped or first.swapped:
            yield Figure(
                "swapped",
                now.swapped,
                rate(before.swapped, now.swapped, seconds),
                now.swapped - first.swapped,
            )
        if self._heaps and self._first_heap is not None:
            last, current, begin = self._heaps[0], self._heaps[-1], self._first_heap
            passed = current.when - last.when
            for name, old, new, start, is_bytes in (
                ("live", last.live, current.live, begin.live, True),
                ("held", last.held, current.held, begin.held, True),
                ("blocks", last.blocks, current.blocks, begin.blocks, False),
            ):
                yield Figure(name, new, rate(old, new, passed), new - start, is_bytes)
        else:
            yield from (Figure("live", None), Figure("held", None))
        yield Figure(
            "page faults",
            now.faults,
            rate(before.faults, now.faults, seconds),
            now.faults - first.faults,
            is_bytes=False,
        )

    def _sizes(self) -> Iterator[SizeLine]:
        if not self._heaps:
            return
        before, now = self._heaps[0], self._heaps[-1]
        old = {each.least: each.bytes for each in before.sizes}
        for each in now.sizes:
            growth = rate(old.get(each.least, 0), each.bytes, now.when - before.when)
            yield SizeLine(each.least, each.blocks, each.bytes, growth)


def run_top(options: Options) -> ExitCode:
    """Watch the process until it ends or Ctrl-C; return the exit status.

    Raises HeapwrightError if there is no such process.
    """
    process = read_process(options.pid)
    if is_32_bit(options.pid):
        raise HeapwrightError(
            f"process {options.pid} ({process.name}) is a program for 32 bits, "
            "which is not supported"
        )
    sites = sites_of(options.pid) if options.by_site else None
    try:
        with printing(), ended_as_interrupted():
            if sites is not None:
                sites.wait()  # the first look-up of names takes longest
            watched = Watched(options.pid, sites)
            if options.once:
                console = make_console()
                console.print(drawn(watched.read(), console.width))
            elif sys.stdout.isatty():
                _draw(watched, options.interval_s)
            else:
                _write(watched, options.interval_s)
    except KeyboardInterrupt:
        return ExitCode.OK
    except HeapwrightError as error:
        if process_exists(options.pid, process.name):
            raise
        typer.echo(f"heapwright: process {options.pid} ({process.name}) ended", err=True)
        if error.exit_code is not ExitCode.BAD_INPUT:
            raise
        return ExitCode.NOTHING_COMPARED
    finally:
        if sites is not None:
            with suppress(KeyboardInterrupt):  # the second one ends the wait
                sites.close()
    return ExitCode.OK


def process_exists(pid: int, name: str) -> bool:
    """Whether the process still runs."""
    try:
        return read_process(pid).name == name
    except HeapwrightError:
        return False


def _pauses(interval_s: float) -> Iterator[None]:
    """One round after another, at the interval or as rarely as the budget demands."""
    budget = Budget(DRAWING, interval_s)
    while True:
        budget.begin()
        yield
        budget.end()
        time.sleep(max(budget.due - time.monotonic(), 0))


def _draw(watched: Watched, interval_s: float) -> None:
    console = make_console()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for _ in _pauses(interval_s):
            live.update(drawn(watched.read(), console.width), refresh=True)


def _write(watched: Watched, interval_s: float) -> None:
    for _ in _pauses(interval_s):
        screen = watched.read()
        when = datetime.now().astimezone().strftime("%H:%M:%S")
        print(line(screen, when), flush=True)  # noqa: T201
