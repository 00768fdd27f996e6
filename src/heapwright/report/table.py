# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a comparison, for any width.

One row a treatment, the fastest first; those with a bad outcome last, with their counts and without
figures. Where the row does not fit, each treatment gets a few short lines instead: nothing is ever
cut. There are no box lines, so a piped table is plain columns.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.comparison import (
    Comparison,
    Effect,
    Key,
    ResponseSummary,
    TreatmentInfo,
    count_outcomes,
)
from heapwright.artefacts.runs import Outcome

HEADINGS = ("Allocator", "Time", "Peak memory", "Group", "Front")
REMARKS = "Remarks"


@dataclass(frozen=True, slots=True)
class Row:
    """One treatment as text; `style` is a Rich style for the whole row."""

    label: str
    time: str
    memory: str
    letters: str
    front: str
    remarks: str
    style: str


def table_rows(comparison: Comparison) -> list[Row]:
    """The rows in their order: ranked by time, then without figures, then those that failed."""
    counts = {info.key: count_outcomes(comparison.runs, info.key) for info in comparison.treatments}

    def place(info: TreatmentInfo) -> tuple[bool, float]:
        effect = comparison.effect(info.key, "time")
        return bool(set(counts[info.key]) - {Outcome.OK}), effect.ratio if effect else math.inf

    ordered = sorted(comparison.treatments, key=place)
    return [_row(comparison, info, counts[info.key]) for info in ordered]


def _row(comparison: Comparison, info: TreatmentInfo, counts: dict[Outcome, int]) -> Row:
    failed = bool(set(counts) - {Outcome.OK})
    reference = info.label == comparison.design.baseline
    time = comparison.effect(info.key, "time")
    memory = comparison.effect(info.key, "memory")
    ranked = not failed
    return Row(
        label=f"{info.label} (baseline)" if reference else info.label,
        time=ratio_text(time, reference) if ranked else "-",
        memory=ratio_text(memory, reference) if ranked else "-",
        letters=time.group if time and ranked else "",
        front="*" if info.label in comparison.pareto else "",
        remarks=_remarks(comparison, info.key, counts),
        style=_style(comparison, info.key, failed),
    )


def ratio_text(effect: Effect | None, reference: bool = False) -> str:
    """A ratio with its interval: "0.921 (0.902 to 0.940)", "12.1 (11.8 to 12.4)"."""
    if effect is None:
        return "-"
    if reference:
        return "1"
    digits = 3 if max(effect.ratio, effect.high or 0.0) < 10 else 1
    if effect.low is None or effect.high is None:
        return f"{effect.ratio:.{digits}f} (no interval)"
    return f"{effect.ratio:.{digits}f} ({effect.low:.{digits}f} to {effect.high:.{digits}f})"


def _remarks(comparison: Comparison, key: Key, counts: dict[Outcome, int]) -> str:
    """Outcome counts unless all runs were good, and whether the memory cap is broken."""
    parts = []
    if set(counts) - {Outcome.OK}:
        parts += [f"{number} {outcome}" for outcome, number in counts.items()]
    elif not counts:
        parts.append("no run")
    cap = comparison.design.cap_bytes
    mine = (run for run in comparison.runs if (run.allocator, run.level) == key)
    peaks = [run.peak_rss_bytes or 0 for run in mine if run.outcome is Outcome.OK]
    if cap is not None and max(peaks, default=0) > cap:
        parts.append("over the cap")
    return ", ".join(parts)


def _style(comparison: Comparison, key: Key, failed: bool) -> str:
    verdict = comparison.verdict
    if failed:
        return "red"
    return "bold green" if (verdict.allocator, verdict.level) == key else ""


class ComparisonTable:
    """The table as something that Rich can print: columns where they fit, else short lines."""

    def __init__(self, comparison: Comparison) -> None:
        self.rows = table_rows(comparison)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = self._columns()
        unbounded = options.update_width(sum(map(len, self._longest())) + 100)
        if Measurement.get(console, unbounded, table).maximum <= options.max_width:
            yield table
        else:
            yield from self._lines()

    def _longest(self) -> list[str]:
        return [
            max((str(getattr(row, name)) for row in self.rows), key=len, default="")
            for name in ("label", "time", "memory", "letters", "front", "remarks")
        ]

    def _columns(self) -> Table:
        remarks = any(row.remarks for row in self.rows)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for heading in (*HEADINGS, REMARKS) if remarks else HEADINGS:
            table.add_column(heading, no_wrap=True)
        for row in self.rows:
            cells = [row.label, row.time, row.memory, row.letters, row.front]
            table.add_row(
                *map(Text, [*cells, row.remarks] if remarks else cells), style=row.style or None
            )
        return table

    def _lines(self) -> Iterator[Text]:
        for row in self.rows:
            mark = f" {row.front}" if row.front else ""
            yield Text(f"{row.label}{mark}", style=f"bold {row.style}".strip(), overflow="fold")
            figures = [("time", row.time, row.letters), ("memory", row.memory, "")]
            for name, ratio, letters in figures:
                if ratio != "-":
                    text = f"  {name:<6}  {ratio}  {letters}".rstrip()
                    yield Text(text, style=row.style, overflow="fold")
            if row.remarks:
                yield Text(f"  {row.remarks}", style=row.style, overflow="fold")


def legend(comparison: Comparison) -> list[str]:
    """What one needs to read the table: the baseline's own figures, the intervals, the marks."""
    lines = [_reference(comparison)]
    if any(effect.low is not None for effect in comparison.effects):
        confidence = f"{100 * comparison.design.confidence:g} %"
        lines.append(
            f"Ratios to the baseline with simultaneous {confidence} intervals; below 1 is better."
        )
        lines.append("Treatments that share a group letter do not differ in time.")
    elif comparison.effects:
        lines.append("Ratios to the baseline; too few blocks for intervals or groups.")
    if comparison.pareto:
        lines.append("* marks the Pareto front of time and peak memory.")
    design = comparison.design
    plural = "" if design.blocks == 1 else "s"
    lines.append(
        f"{design.blocks} block{plural}, seed {design.seed}. Stopped: {design.stopped_because}."
    )
    return lines


def _reference(comparison: Comparison) -> str:
    time, memory = comparison.response("time"), comparison.response("memory")
    own = [text for text in (_value(time), _value(memory)) if text]
    figures = f": {', '.join(own)}" if own else " has no good run"
    return f"Baseline {comparison.design.baseline}{figures}."


def _value(summary: ResponseSummary | None) -> str:
    if summary is None or summary.baseline_value is None:
        return ""
    value = summary.baseline_value
    if summary.unit == "s":
        return seconds_text(value)
    return f"peak {value / (1 << 20):.{1 if value < 100 << 20 else 0}f} MiB"


def seconds_text(value: float) -> str:
    """Three digits of a time: "2.31 s", "48.2 ms"."""
    if value >= 1:
        return f"{value:.{max(0, 2 - int(math.log10(value)))}f} s"
    milliseconds = 1000 * value
    return f"{milliseconds:.{2 if milliseconds < 10 else 1}f} ms"
