# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table and the legend of a comparison by exact counts."""

import math
from collections.abc import Sequence
from statistics import median

from heapwright.artefacts.comparison.counts import counted
from heapwright.artefacts.comparison.document import Comparison, TreatmentInfo, count_outcomes
from heapwright.artefacts.run.exact_counts import INSTRUCTIONS, L1_MISSES, LL_MISSES
from heapwright.artefacts.run.measured import Outcome
from heapwright.report.columns import Columns
from heapwright.report.table import seconds_text

HEADINGS = (
    "Allocator",
    "Instructions",
    "Ratio",
    "First-level misses",
    "Last-level misses",
    "Repeats within",
    "Wall time, plain",
)


def exact_table(comparison: Comparison) -> Columns:
    """One row for each treatment, the fewest instructions first, failed treatments last."""
    base = counted(comparison.runs, comparison.treatments[0].key)
    rows: list[tuple[float, Sequence[str]]] = []
    for info in comparison.treatments:
        own = counted(comparison.runs, info.key)
        outcomes = count_outcomes(comparison.runs, info.key)
        label = (
            f"{info.label} (baseline)" if info.label == comparison.design.baseline else info.label
        )
        if own is None or base is None or set(outcomes) - {Outcome.OK}:
            ends = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items())
            rows.append((math.inf, (label, ends or "no run", "", "", "", "", "")))
            continue
        cells = (
            label,
            f"{own.counts[INSTRUCTIONS]:,.0f}",
            _ratio(own.ratio(base, INSTRUCTIONS)),
            _ratio(own.ratio(base, L1_MISSES)),
            _ratio(own.ratio(base, LL_MISSES)),
            f"{100 * own.spread:.2g} %",
            _plain_time(comparison, info),
        )
        rows.append((own.counts[INSTRUCTIONS], cells))
    return Columns(HEADINGS, [cells for _, cells in sorted(rows, key=lambda row: row[0])])


def exact_legend(comparison: Comparison) -> list[str]:
    """What the columns mean."""
    design = comparison.design
    return [
        "Valgrind's cachegrind counts instructions and misses: first-level caches of 32 KiB, a "
        "last level of 8 MiB. Ratios refer to the baseline; below 1 is better.",
        "System calls of the kernel are not counted. Wall time is that of one plain run, and does "
        "not decide.",
        f"{design.blocks} counted run{'' if design.blocks == 1 else 's'} each, seed {design.seed}. "
        f"Stopped: {design.stopped_because}.",
    ]


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.4f}"


def _plain_time(comparison: Comparison, info: TreatmentInfo) -> str:
    times = [
        run.wall_s
        for run in comparison.runs
        if (run.allocator, run.level) == info.key and run.warmup and run.wall_s is not None
    ]
    return seconds_text(median(times)) if times else "-"
