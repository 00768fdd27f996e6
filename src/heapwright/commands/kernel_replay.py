# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel replay`: a kernel trace in kernels that are built for it."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from heapwright import __version__
from heapwright.artefacts.kernel_study.replay import KernelReplay, KernelReplays
from heapwright.artefacts.run.provenance import sha256_of
from heapwright.base.errors import HeapwrightError
from heapwright.commands.kernel_build import parse_allocators
from heapwright.commands.output import Outputs
from heapwright.commands.text import printing
from heapwright.kernel.build import build, plan
from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.image_cache import find
from heapwright.kernel.machine import VIRTUAL, find_qemu
from heapwright.kernel.replay import FOLDER, replay_plan, replayed
from heapwright.kernel.replay_file import ReplayFile, compact
from heapwright.kernel.source import find_source
from heapwright.report.columns import Columns
from heapwright.report.console import make_console

KIB_OF_PAGE = 4
HEADINGS = ("Kernel", "Slab KiB", "At most", "At the end", "Kept", "Time ms", "Refused")


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    allocators: str
    trace: Path
    jobs: int | None
    timeout_s: float
    again: bool
    json_file: str | None


def replay_trace(options: Options) -> None:
    """Replay the trace in each kernel and print what it took.

    Raises HeapwrightError. The kernels before one that failed are still shown and written.
    """
    names = parse_allocators(options.allocators)
    outputs = Outputs(json=options.json_file)
    outputs.spare(options.trace)
    file = read_trace(options.trace)
    digest = sha256_of(options.trace)
    find_qemu()
    cache = kernel_cache(os.environ)
    folder = cache / FOLDER
    source = find_source()
    many = options.jobs or len(os.sched_getaffinity(0))
    found: list[KernelReplay] = []
    failure: HeapwrightError | None = None
    try:
        for name in names:
            wanted = replay_plan(plan(name, source))
            there = None if options.again else find(wanted.key, folder)
            built = there or build(wanted, folder, many, _say)
            _say(f"{name}: replay of {file.prelude + file.timed:,} events")
            found.append(replayed(built, file, cache, options.timeout_s))
    except HeapwrightError as error:
        if not found:
            raise
        failure = error
    document = KernelReplays(
        heapwright_version=__version__,
        trace=str(options.trace),
        trace_sha256=digest,
        processors=file.cpus,
        prelude=file.prelude,
        timed=file.timed,
        kernels=tuple(found),
    )
    show_replays(document.kernels, outputs)
    written = outputs.write(json=document.to_json)
    if failure := failure or written:
        raise failure


def read_trace(trace: Path) -> ReplayFile:
    """The trace in the form for a kernel. Raises HeapwrightError."""
    try:
        with trace.open(encoding="utf-8") as lines:
            file = compact(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise HeapwrightError(f"the kernel trace {trace} cannot be read: {error}") from error
    except HeapwrightError as error:
        raise HeapwrightError(f"{trace}: {error.message}", error.hint) from error
    if not file.marks:
        raise HeapwrightError(
            f"{trace} has no mark, so nothing would be measured",
            "a mark is a line `k TIME SLAB_PAGES EVENTS`; heapwright kernel record writes them",
        )
    return file


def show_replays(found: Sequence[KernelReplay], outputs: Outputs) -> None:
    """Slab memory of the replay alone, over the marks, and the time of its requests."""
    rows = [
        (
            each.kernel.allocator,
            f"{fmean(each.slab_pages) * KIB_OF_PAGE:,.0f}",
            f"{max(each.slab_pages) * KIB_OF_PAGE:,}",
            f"{each.slab_pages[-1] * KIB_OF_PAGE:,}",
            f"{each.kept_pages * KIB_OF_PAGE:,}",
            f"{each.request_ns / 1e6:,.3f}" if each.time == VIRTUAL else "-",
            f"{each.refused:,}",
        )
        for each in found
    ]
    with printing():
        make_console(outputs.stream).print(Columns(HEADINGS, rows))
    for time in dict.fromkeys(each.time for each in found):
        hidden = "" if time == VIRTUAL else ", so it is not shown"
        _say(f"the time is {time}{hidden}")
    for each in found:
        if each.refused:
            _say(
                f"{each.kernel.allocator}: {each.refused:,} requests got no memory, so its figures "
                "are not those of the whole trace; raise the number after `memory` in the trace"
            )


def _say(text: str) -> None:
    print(f"kernel: {text}", file=sys.stderr)  # noqa: T201
