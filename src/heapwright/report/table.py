# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a comparison, for any width.

Each treatment has one row, the fastest first. Treatments with a bad outcome come last, with counts
in place of figures. If the rows do not fit, each treatment gets a few short lines. Nothing is ever
cut. Rich's own tables shorten or drop long text, so the columns are laid out here. There are no box
lines. A piped table is plain columns without trailing blanks.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from heapwright.artefacts.comparison.document import (
    Comparison,
    Effect,
    Key,
    ResponseSummary,
    TreatmentInfo,
    count_outcomes,
    label_of,
)
from heapwright.artefacts.run.measured import Outcome
from heapwright.report.race_text import departure_of, race_legend

LABEL = "Allocator"
LABEL_OF_COMMANDS = "Candidate"
HEADINGS = ("Time", "Peak memory", "Group", "Front")
HEADINGS_OF_CPU = ("Processor time", "Wall time", *HEADINGS[1:])
GAP = 2
NARROWEST_LABEL = 18


@dataclass(frozen=True, slots=True)
class Row:
    """One treatment as text; `style` is a Rich style for the whole row."""

    label: str
    time: str
    cpu: str | None
    """None: processor time does not decide."""
    memory: str
    letters: str
    front: str
    remarks: str
    failed: bool
    style: str

    @property
    def figures(self) -> tuple[str, ...]:
        """The cells right of the label."""
        cpu = () if self.cpu is None else (self.cpu,)
        return (*cpu, self.time, self.memory, self.letters, self.front)


def table_rows(comparison: Comparison) -> list[Row]:
    """The rows in their order: ranked by time, then without figures, then those that failed."""
    counts = {info.key: count_outcomes(comparison.runs, info.key) for info in comparison.treatments}

    def place(info: TreatmentInfo) -> tuple[bool, float]:
        effect = comparison.effect(info.key, comparison.design.race or "time")
        return bool(set(counts[info.key]) - {Outcome.OK}), effect.ratio if effect else math.inf

    ordered = sorted(comparison.treatments, key=place)
    return [_row(comparison, info, counts[info.key]) for info in ordered]


def _row(comparison: Comparison, info: TreatmentInfo, counts: dict[Outcome, int]) -> Row:
    failed = bool(set(counts) - {Outcome.OK})
    reference = info.label == comparison.design.baseline
    cpu = comparison.effect(info.key, "cpu")
    time = comparison.effect(info.key, "time")
    memory = comparison.effect(info.key, "memory")
    deciding = comparison.effect(info.key, comparison.design.race or "time")
    return Row(
        label=f"{info.label} (baseline)" if reference else info.label,
        time=ratio_text(time, reference),
        cpu=ratio_text(cpu, reference) if comparison.design.race == "cpu" else None,
        memory=ratio_text(memory, reference),
        letters=deciding.group if deciding else "",
        front="*" if info.label in comparison.pareto else "",
        remarks=_remarks(comparison, info.key, counts),
        failed=failed,
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
    elif left := departure_of(comparison, label_of(*key)):
        parts.append(left)
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
    """The table as something that Rich can print: columns where they fit, else short lines.

    A label that is too long for its column is folded inside it; a failure is stated in place of the
    figures.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.rows = table_rows(comparison)
        has_commands = any(info.command for info in comparison.treatments)
        self.label = LABEL_OF_COMMANDS if has_commands else LABEL
        self.headings = HEADINGS if comparison.design.race != "cpu" else HEADINGS_OF_CPU
        cells = [self.headings, *(row.figures for row in self.rows if not row.failed)]
        self.widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        longest = max(cell_len(row.label) for row in self.rows)
        wanted = max(longest, cell_len(self.label))
        beside = max(self._beside(row) for row in self.rows)
        room = min(wanted, options.max_width - beside)
        if room >= min(wanted, NARROWEST_LABEL):
            yield from self._columns(room)
        else:
            yield from self._lines()

    def _beside(self, row: Row) -> int:
        """How much stands right of the label, gaps included."""
        figures = 0 if row.failed else sum(self.widths) + GAP * len(self.widths)
        headings = sum(self.widths) + GAP * len(self.widths)
        remark = GAP + cell_len(row.remarks) if row.remarks else 0
        return max(figures + remark, headings)

    def _columns(self, room: int) -> Iterator[Text]:
        yield Text(self._line(self.label, self.headings, "", room), style="bold", no_wrap=True)
        for row in self.rows:
            first, *further = _folded(row.label, room)
            figures = () if row.failed else row.figures
            yield Text(self._line(first, figures, row.remarks, room), style=row.style, no_wrap=True)
            yield from (Text(piece, style=row.style, no_wrap=True) for piece in further)

    def _line(self, label: str, figures: Sequence[str], remark: str, room: int) -> str:
        cells = [set_cell_size(label, room)]
        cells += [set_cell_size(*pair) for pair in zip(figures, self.widths, strict=False)]
        return (" " * GAP).join([*cells, remark]).rstrip()

    def _lines(self) -> Iterator[Text]:
        for row in self.rows:
            mark = f" {row.front}" if row.front else ""
            yield Text(f"{row.label}{mark}", style=f"bold {row.style}".strip(), overflow="fold")
            cpu = () if row.cpu is None else (("cpu", row.cpu, ""),)
            for name, ratio, letters in (
                *cpu,
                ("time", row.time, row.letters),
                ("memory", row.memory, ""),
            ):
                if not row.failed:
                    text = f"  {name:<6}  {ratio}  {letters}".rstrip()
                    yield Text(text, style=row.style, overflow="fold")
            if row.remarks:
                yield Text(f"  {row.remarks}", style=row.style, overflow="fold")


def _folded(text: str, room: int) -> list[str]:
    """`text` in pieces of at most `room` cells, parted after a blank or a comma where it can be."""
    lines = [""]
    for word in re.findall(r"[^ ,]*[ ,]?", text):
        if cell_len(lines[-1]) + cell_len(word.rstrip()) <= room:
            lines[-1] += word
        else:
            lines += chop_cells(word, room)
    return [line.rstrip() for line in lines if line.strip()]


def legend(comparison: Comparison) -> list[str]:
    """What one needs to read the table: the intervals, the marks, how long it was measured."""
    lines = []
    if any(summary.method != "none" for summary in comparison.responses):
        confidence = f"{100 * comparison.design.confidence:g} %"
        lines.append(
            f"Ratios to the baseline with simultaneous {confidence} intervals; below 1 is better."
        )
        figure = "processor time" if comparison.design.race == "cpu" else "time"
        lines.append(f"Treatments share a group letter if their intervals in {figure} overlap.")
        lines += race_legend(comparison)
    elif any(summary.blocks for summary in comparison.responses):
        lines.append("Ratios to the baseline; too few blocks for intervals or groups.")
    if comparison.pareto:
        lines.append("* marks the Pareto front of time and peak memory.")
    design = comparison.design
    plural = "" if design.blocks == 1 else "s"
    lines.append(
        f"{design.blocks} block{plural}, seed {design.seed}. Stopped: {design.stopped_because}."
    )
    return lines


def reference(comparison: Comparison) -> str:
    """The baseline's own figures."""
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
