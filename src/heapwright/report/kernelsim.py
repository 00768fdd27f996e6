# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Models of the kernel's allocators on the console: the figures, and the tables of caches."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.kernelsim.document import KernelModels, ModelError, ModelRun, ModelsAnswer
from heapwright.base.quantities import several
from heapwright.report.columns import Columns

KIB_A_PAGE = 4
HEADINGS = (
    "Model",
    "CPUs",
    "Time ms",
    "Slab KiB mean",
    "peak",
    "end",
    "kept",
    "Frag. events",
    "Unusable",
    "Remote frees",
    "Refused",
)
CACHE_HEADINGS = (
    "Cache", "Size", "Stride", "Live", "Objects", "Slabs", "Pages", "Remote frees",
)  # fmt: skip
KERNEL_HEADINGS = (
    "Model", "Slab KiB mean", "the kernel's", "Error", "at worst", "of growth", "Frag. events",
    "the kernel's",
)  # fmt: skip
COUNT_HEADINGS = (
    "Model", "CPUs", "Time k", "Path k", "Work k", "Lock takes k", "Hand-overs k", "Lines moved k",
    "Remote frees k",
)  # fmt: skip
COUNT_WORDS = (
    "Work: virtual instructions of all processors, in thousands: loads, stores and basic blocks. "
    "Path: those of the busiest processor, or under the busiest lock if they are more.",
    "Time: the path if each line that moved costs 50 instructions. Lock takes: without the locks "
    "of a single processor. Hand-overs: those after another processor.",
)
GROUP_ORDER = 9


def print_models(
    console: Console, document: KernelModels, beside: Sequence[ModelError] = (), *, quiet: bool
) -> None:
    """One line for each model and number of processors, and one for each comparison with its
    kernel. `quiet` leaves out the legend."""
    if not quiet:
        console.print(Text(_about(document), style="bold"))
        console.print()
    rows = [
        _row(run, answer.traffic.processors) for answer in document.runs for run in answer.models
    ]
    console.print(Columns(HEADINGS, rows))
    if beside:
        _print_beside(console, document.runs[0].traffic.kernel, beside)
    if quiet:
        return
    console.print()
    for line in _words(document):
        console.print(Text(line))


def _print_beside(console: Console, kernel: str, beside: Sequence[ModelError]) -> None:
    console.print()
    said = f"Beside the kernel {kernel}, at {several(beside[0].marks, 'mark')}"
    console.print(Text(said, style="bold"))
    console.print(Columns(KERNEL_HEADINGS, [_beside(near) for near in beside]))


def _beside(near: ModelError) -> tuple[str, ...]:
    return (
        near.model,
        f"{near.model_pages * KIB_A_PAGE:,.0f}",
        f"{near.kernel_pages * KIB_A_PAGE:,.0f}",
        f"{near.mean_error:+.1%}",
        f"{near.worst_error:+.1%}",
        "" if near.growth_error is None else f"{near.growth_error:+.1%}",
        f"{near.model_events:,}",
        f"{near.kernel_events:,}",
    )


def print_counts(console: Console, document: KernelModels, *, quiet: bool) -> None:
    """The counts of each model and number of processors, in thousands."""
    rows = [
        row
        for answer in document.runs
        for run in answer.models
        if (row := _counts(run, answer.traffic.processors))
    ]
    console.print()
    console.print(Columns(COUNT_HEADINGS, rows))
    if quiet:
        return
    console.print()
    for line in COUNT_WORDS:
        console.print(Text(line))


def _counts(run: ModelRun, processors: int) -> tuple[str, ...]:
    if (counts := run.counts) is None:
        return ()
    shown = (
        counts.time,
        counts.path,
        counts.instructions_in_all,
        counts.lock_takes,
        counts.hand_overs,
        counts.transfers_in_all,
        run.remote_frees,
    )
    return (run.model, str(processors), *(f"{each / 1000:,.1f}" for each in shown))


def print_caches(console: Console, document: KernelModels) -> None:
    """The table of caches of each run, as slabinfo has it."""
    for answer in document.runs:
        for run in answer.models:
            console.print()
            processors = several(answer.traffic.processors, "processor")
            console.print(Text(f"{run.model}, {processors}, at the end", style="bold"))
            rows = [
                (
                    each.name,
                    *(f"{value:,}" for value in (each.size, each.stride, each.live, each.objects)),
                    *(f"{value:,}" for value in (each.slabs, each.pages, each.remote_frees)),
                )
                for each in run.caches
            ]
            console.print(Columns(CACHE_HEADINGS, rows))


def _about(document: KernelModels) -> str:
    traffic = document.runs[0].traffic
    what = f"load {document.load}" if document.load else f"trace {document.trace}"
    seed = "" if document.seed is None else f", seed {document.seed}"
    memory = traffic.memory_pages * KIB_A_PAGE // 1024
    return f"{what}{seed}: {several(traffic.events, 'event')}, a machine of {memory:,} MiB"


def _row(run: ModelRun, processors: int) -> tuple[str, ...]:
    slab = run.slab_pages
    pages = (slab.mean, slab.peak, slab.end, slab.kept)
    return (
        run.model,
        str(processors),
        f"{run.seconds * 1000:,.1f}",
        *(f"{each * KIB_A_PAGE:,}" for each in pages),
        f"{run.fragmentation.events:,}",
        f"{run.fragmentation.unusable[GROUP_ORDER]:.0%}",
        f"{run.remote_frees:,}",
        f"{run.refused:,}",
    )


def _words(document: KernelModels) -> list[str]:
    """The meaning of the columns, the best model, and the caveats."""
    lines = [
        "Time: processor time of all calls, the least of the rounds. Slab: what the allocator has "
        "of pages; kept: after all objects are freed.",
        "Frag. events: requests for pages that pages of another mobility had to serve. Unusable: "
        "the share of free memory in blocks of less than 2 MiB, at the end.",
    ]
    for answer in document.runs:
        if len(answer.models) > 1:
            lines.append(_firsts(answer))
    return [*lines, *(f"- {note}" for note in document.notes)]


def _firsts(answer: ModelsAnswer) -> str:
    fastest = min(answer.models, key=lambda run: run.seconds)
    leanest = min(answer.models, key=lambda run: run.slab_pages.mean)
    processors = several(answer.traffic.processors, "processor")
    return f"On {processors} {fastest.model} is the fastest, {leanest.model} the leanest."
