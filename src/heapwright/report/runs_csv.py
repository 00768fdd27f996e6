# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The raw runs as CSV (RFC 4180 with line feeds): one row a run, in the order they were run.

The columns of `COLUMNS` always come first and in this order. Then come a column for each hardware
counter of any run, by name, and one for each further response. What was not measured is an empty
field, never a zero. The resident set over time, the list of processes and all that a replay says of
itself are in the JSON document only.
"""

import csv
from collections.abc import Iterable
from typing import TextIO

from heapwright.artefacts.run.measured import Run

COLUMNS = (
    "allocator",
    "level",
    "block",
    "position",
    "warmup",
    "outcome",
    "exit_status",
    "signal",
    "wall_s",
    "user_s",
    "sys_s",
    "peak_rss_bytes",
    "peak_rss_method",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "interposed",
    "unaccounted_cpu_s",
    "leftover_processes",
    "load_before",
    "runnable_before",
    "steal_s",
    "harness_cpu_s",
    "client_cpu_s",
    "detail",
)


def write_runs(runs: Iterable[Run], stream: TextIO) -> None:
    """Write all `runs` to `stream`, which should have been opened with newline=""."""
    rows = list(runs)
    counters = sorted({name for run in rows for name in run.counters})
    measures = sorted({name for run in rows for name in run.measures})
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*COLUMNS, *counters, *measures])
    for run in rows:
        figures = run.model_dump(mode="json", include=set(COLUMNS))
        fields = [_field(figures[name]) for name in COLUMNS]
        fields += [_field(run.counters.get(name)) for name in counters]
        writer.writerow([*fields, *(_field(run.measures.get(name)) for name in measures)])


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
