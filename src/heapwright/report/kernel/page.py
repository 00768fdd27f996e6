# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a study of kernels: memory over time, every figure beside SLUB's, as published.

The top of the page defines virtual time: it measures the length of the path, without caches and
locks.
"""

import csv
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import altair as alt

from heapwright.artefacts.kernel_study.document import BASELINE, Figure, KernelDesign, KernelRun
from heapwright.report.kernel.summary import load_of, ratio_of
from heapwright.report.kernel.text import figure
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, Data, contents, section, table
from heapwright.report.pages.vega import BLUE, GREEN, ORANGE, PINK, finished

TITLE = "The kernel's object allocators"
COLOURS = {"slab": BLUE, "slob": ORANGE, "slqb": PINK, "slub": GREEN}
ABOUT = (
    "Each figure comes from kernels of one source that differ in their object allocator alone, "
    "booted in an emulated machine. With one processor time is virtual: two nanoseconds for each "
    "instruction. It measures the length of the path, without caches, locks and other processors. "
    "The same seed gives the same figures to the last digit, so only different seeds cause "
    "scatter. With more processors time is the host's, and only counts are compared. "
    "SLQB was never part of a released kernel: heapwright's own patch adds it to the same source, "
    "written from published descriptions."
)
BESIDE = (
    "Ferreira, Matias, Macêdo and Evangelista measured Linux 2.6.39 on real processors, with "
    "100 GB copied and files of 2 GB. Their seconds cannot be compared with those here. "
    "Only the order of the allocators can be compared."
)


def study_page(
    design: KernelDesign,
    runs: Sequence[KernelRun],
    figures: Sequence[Figure],
    published: Sequence[Path],
) -> str:
    """The whole page."""
    charts = Charts()
    sections = [
        ("memory", "Memory over time", _memory(runs, charts)),
        ("figures", "Every figure", _figures(figures)),
        ("published", "As published", f"<p>{BESIDE}</p>" + "".join(map(_csv, published))),
        ("failures", "Boots that did not complete", _failures(runs)),
        ("machine", "Source of the figures", _machine(design, runs)),
    ]
    shown = [(name, heading, text) for name, heading, text in sections if text]
    body = (
        f"<h1>{TITLE}</h1>\n<p>{ABOUT}</p>\n"
        + contents([(name, heading) for name, heading, _ in shown])
        + "\n".join(section(name, heading, text) for name, heading, text in shown)
    )
    return frame(TITLE, body, charts)


def _figures(figures: Sequence[Figure]) -> str:
    """A row for each figure of each load, a column for each kernel: its mean, and over SLUB's."""
    lines: dict[tuple[str, str], dict[str, Figure]] = {}
    for each in figures:
        lines.setdefault((load_of(each), each.response), {})[each.allocator] = each
    kernels = [name for name in COLOURS if any(name in line for line in lines.values())]
    rows = [
        [escape(cell) for cell in (*key, *(_cell(line.get(name)) for name in kernels))]
        for key, line in lines.items()
    ]
    seeds = max((len(each.values) for each in figures), default=0)
    head = ("load", "figure", *kernels)
    said = f"<p>Means of {seeds} seeds, each followed by its ratio to slub.</p>"
    return said + table(head, rows, "figures", "figures of every load and kernel")


def _cell(each: Figure | None) -> str:
    if each is None:
        return ""
    ratio = "" if each.allocator == BASELINE else ratio_of(each)
    return f"{figure(each.mean)}; {ratio}" if ratio else figure(each.mean)


def _memory(runs: Sequence[KernelRun], charts: Charts) -> str:
    """For each load and memory the samples of the first seed, with a line for each kernel."""
    parts = []
    first = [run for run in runs if (run.cell.block, run.cell.cpus) == (1, 1)]
    for number, load in enumerate(dict.fromkeys(load_of(run.cell) for run in first)):
        rows = list(_samples([run for run in first if load_of(run.cell) == load]))
        if len({row["t"] for row in rows}) < 3:
            continue
        chart = (
            alt.Chart(alt.InlineData(values=rows))
            .mark_line()
            .encode(
                x=alt.X("t:Q", title="seconds of the guest"),
                y=alt.Y("slab:Q", title="slab memory, MiB"),
                color=alt.Color(
                    "kernel:N",
                    scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
                ),
            )
        )
        cells = [(str(r["kernel"]), f"{r['t']:.3f}", f"{r['slab']:.2f}") for r in rows]
        data = Data(("kernel", "s", "MiB"), cells)
        label = f"slab memory over time under {load}"
        parts.append(
            f"<h3>{escape(load)}</h3>"
            + charts.place(f"memory-{number}", finished(chart, 220), label, data)
        )
    return "\n".join(parts)


def _samples(runs: Sequence[KernelRun]) -> Iterator[dict[str, str | float]]:
    for run in runs:
        for sample in run.boot.samples if run.boot is not None else ():
            yield {
                "kernel": run.cell.allocator,
                "t": sample.at_ns / 1e9,
                "slab": sample.slab_kib / 1024,
            }


def _csv(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    cells = [[escape(cell) for cell in row] for row in rows]
    return table(head, cells, "figures", f"published: {path.stem}")


def _failures(runs: Sequence[KernelRun]) -> str:
    return "".join(
        f"<p>{escape(load_of(run.cell))} under {escape(run.cell.allocator)}, "
        f"seed {run.cell.block}, {run.tries} boots:</p>"
        f"<pre>{escape(run.failure)}</pre>"
        for run in runs
        if run.failure
    )


def _machine(design: KernelDesign, runs: Sequence[KernelRun]) -> str:
    kernels = [[escape(name), escape(key)] for name, key in sorted(design.kernels.items())]
    emulators = {run.boot.emulator for run in runs if run.boot is not None}
    host = design.machine
    return table(("allocator", "kernel"), kernels, "figures") + (
        f"<p>{escape(', '.join(sorted(emulators)))} on {escape(host.cpu)}, "
        f"{escape(host.distribution)}, {escape(host.date)}; scale {escape(design.scale)}.</p>"
    )
