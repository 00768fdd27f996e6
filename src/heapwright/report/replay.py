# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a replay besides time and peak memory: latencies of calls, and the use of memory.

Latencies are those of all good measured runs of a treatment together, so that the far tail rests on
as many calls as there are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.comparison.document import Comparison, TreatmentInfo
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.replay import (
    PlannedWork,
    ReplayFigures,
    ReplayPlan,
    ReplaySubject,
    RoutineTimes,
    shows_memory,
    visits_per_ms,
)
from heapwright.artefacts.trace.processes import told
from heapwright.base.quantities import several, size

MOST_ROUTINES = 4
RARE = 0.01
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
MIB = 1 << 20


def print_replay(console: Console, comparison: Comparison) -> None:
    """A table for each frequent routine, a table of memory, and the oddities of the trace."""
    assert comparison.replay is not None
    figures = {info.label: list(_figures(comparison, info)) for info in comparison.treatments}
    for routine in _routines(figures.values()):
        console.print()
        console.print(_latencies(routine, figures))
    console.print()
    console.print(_memory(figures, touched=shows_memory(comparison.replay.touch)))
    console.print()
    for line in subject_lines(comparison.replay):
        console.print(Text(line, style="dim"))


def quantile(steps: Sequence[tuple[float, int]], share: float) -> float:
    """The upper end of the step in which that share of the calls is reached; steps in order."""
    wanted = share * sum(count for _, count in steps)
    seen = 0
    for upper, count in steps:
        seen += count
        if seen >= wanted:
            return upper
    return steps[-1][0] if steps else 0.0


def subject_lines(subject: ReplaySubject) -> Iterator[str]:
    """The replayed trace, and the parts that could not be replayed."""
    plan = subject.plan
    yield (
        f"Replayed: {subject.trace}, {plan.events:,} calls of "
        f"{several(plan.threads, 'thread')}, {plan.hand_overs:,} objects handed over; "
        f"touch {subject.touch}, pace {subject.pace}, order {subject.order}{_bound(plan)}."
    )
    if plan.between is not None:
        yield _between(plan.between, subject.surroundings.visits)
    if text := told(subject.processes, plan.process):
        yield text
    if not shows_memory(subject.touch):
        yield (
            "Memory is not compared: the replay did not write into it, and what is not written is "
            "not resident. --touch as-recorded-size (the default) compares it."
        )
    if subject.checked:
        yield "Contents, alignment and overlap were checked: the times mean nothing."
    if odd := list(_oddities(plan)):
        yield f"The trace has {', '.join(odd)}."


def _between(work: PlannedWork, asked: float) -> str:
    visited = (
        f", {work.visits:,} visits of objects with {work.visited_lines:,} cache lines"
        if work.visits_per_ms
        else ""
    )
    if work.visits_per_ms < visits_per_ms(asked):
        visited += f" ({work.visits_per_ms / 1000:.3g} of the {asked:g} requested in a microsecond)"
    return (
        f"Between calls: {work.iterations:,} iterations of work for {work.work_s:.3g} s of the "
        f"{work.recorded_s:.3g} s recorded there{visited}. It is the same under every allocator."
    )


def _bound(plan: ReplayPlan) -> str:
    if not plan.ahead_bytes:
        return ""
    return f" (live bytes within {size(plan.ahead_bytes)} of the recorded ones)"


def _oddities(plan: ReplayPlan) -> Iterator[str]:
    found = plan.oddities
    words = (
        (found.failed, "calls that got no memory (left out)"),
        (found.unknown_frees, "frees of unknown addresses (left out)"),
        (found.unknown_reallocs, "reallocs of unknown addresses (made new objects)"),
        (found.overwritten, "objects whose free was not seen (freed before their address returns)"),
    )
    return (f"{number:,} {text}" for number, text in words if number)


def _figures(comparison: Comparison, info: TreatmentInfo) -> Iterator[ReplayFigures]:
    for run in comparison.runs:
        mine = (run.allocator, run.level) == info.key and not run.warmup
        if mine and run.outcome is Outcome.OK and run.replay is not None:
            yield run.replay


def _routines(figures: Iterable[Sequence[ReplayFigures]]) -> list[str]:
    """The most frequent routines of the first run."""
    for runs in figures:
        for run in runs:
            ordered = sorted(run.routines.items(), key=lambda item: -item[1].calls)
            often = [name for name, times in ordered if times.calls >= RARE * run.calls]
            return often[:MOST_ROUTINES]
    return []


def _latencies(routine: str, figures: Mapping[str, Sequence[ReplayFigures]]) -> Table:
    table = _table(f"{routine}, ns", ["mean", *QUANTILES, "max"])
    for label, runs in figures.items():
        times = [run.routines[routine] for run in runs if routine in run.routines]
        if times:
            table.add_row(Text(label), *_cells(times))
    return table


def _cells(times: Sequence[RoutineTimes]) -> Iterator[str]:
    calls = sum(each.calls for each in times)
    yield _ns(sum(each.mean_ns * each.calls for each in times) / calls if calls else 0.0)
    together: Counter[float] = Counter()
    for each in times:
        for upper, count in each.histogram:
            together[upper] += count
    steps = sorted(together.items())
    most = max(each.max_ns for each in times)
    for share in QUANTILES.values():
        yield _ns(min(quantile(steps, share), most))
    yield _ns(most)


def _memory(figures: Mapping[str, Sequence[ReplayFigures]], *, touched: bool) -> Table:
    table = _table("Memory, MiB", ["heap at its peak", "ideal", "A/U", "ns in a call"])
    for label, runs in figures.items():
        if not runs:
            continue
        heap = fmean(run.peak_heap_bytes for run in runs)
        ideal = runs[0].ideal_bytes
        times = [1e9 * run.calls_s / run.calls for run in runs if run.calls_s and run.calls]
        table.add_row(
            Text(label),
            f"{heap / MIB:.2f}" if touched else "-",
            f"{ideal / MIB:.2f}",
            f"{heap / ideal:.3g}" if touched and ideal else "-",
            _ns(fmean(times)) if times else "-",
        )
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(title, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    return table


def _ns(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
