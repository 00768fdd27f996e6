# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel study`: makes the boots in order, keeps each at once, then
writes the page."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from heapwright.analysis.kernel_study import figures
from heapwright.artefacts.kernel_study.document import (
    Cell,
    KernelDesign,
    KernelRun,
    append_run,
    read_design,
    read_runs,
    write_design,
)
from heapwright.artefacts.run.provenance import read_environment
from heapwright.base.errors import HeapwrightError
from heapwright.commands.kernel_build import cached_kernel, made_kernels, parse_allocators
from heapwright.commands.text import printing
from heapwright.kernel.boot import Asked, boot
from heapwright.kernel.design import REPLICATES, cells
from heapwright.kernel.folders import kernel_cache, shipped
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import load_of
from heapwright.kernel.machine import MOST_CPUS, find_qemu
from heapwright.kernel.records import GuestError
from heapwright.report.console import make_console
from heapwright.report.kernel.page import study_page
from heapwright.report.kernel.summary import print_figures

PAGE = "index.html"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command line."""

    scale: str
    loads: str
    allocators: str
    replicates: int | None
    cpus: str
    seed: int


def run_kernel_study(wanted: Wanted, folder: Path, *, resume: bool) -> bool:
    """Run the study; return whether every boot completed. Raises HeapwrightError for a refused
    request."""
    find_qemu()
    cache = kernel_cache(os.environ)
    design = read_design(folder) if resume else _designed(wanted, cache)
    if not resume:
        write_design(folder, design)
    kernels = {name: _same(cached_kernel(name, cache), key) for name, key in design.kernels.items()}
    runs = list(read_runs(folder))
    done = {run.cell for run in runs}
    try:
        for number, cell in enumerate(design.cells, start=1):
            if cell not in done:
                _say(f"{number}/{len(design.cells)}: {_named(cell)}")
                runs.append(_booted(cell, design, kernels, cache))
                append_run(folder, runs[-1])
    except KeyboardInterrupt:
        _say(f"broken off; to go on: heapwright kernel study --resume -o {folder}")
        raise
    _show(design, runs, folder)
    return all(run.boot is not None for run in runs)


def _designed(wanted: Wanted, cache: Path) -> KernelDesign:
    names = parse_allocators(wanted.allocators)
    loads = [each.strip() for each in wanted.loads.split(",") if each.strip()]
    for load in loads:
        load_of(load, wanted.scale)
    made = made_kernels(names, cache, len(os.sched_getaffinity(0)))
    blocks = wanted.replicates or REPLICATES[wanted.scale]
    return KernelDesign(
        scale=wanted.scale,
        seed=wanted.seed,
        kernels={built.allocator: built.key for built in made},
        cells=cells(names, loads, blocks, _processors(wanted.cpus), wanted.seed),
        machine=read_environment([], dict(os.environ)),
    )


def _processors(text: str) -> list[int]:
    try:
        counts = [int(each) for each in text.split(",")]
    except ValueError:
        counts = [0]
    if not all(1 <= each <= MOST_CPUS for each in counts):
        raise HeapwrightError(f"--cpus {text}: numbers from 1 to {MOST_CPUS}, with commas")
    return counts


def _same(built: Built, key: str) -> Built:
    if built.key != key:
        raise HeapwrightError(
            f"the study was begun with the kernel {key}, and there is {built.key}",
            "begin a new study in another folder: -o",
        )
    return built


def _booted(cell: Cell, design: KernelDesign, kernels: dict[str, Built], cache: Path) -> KernelRun:
    asked = Asked(load_of(cell.load, design.scale), seed=cell.block, cpus=cell.cpus)
    try:
        return KernelRun(cell=cell, boot=boot(kernels[cell.allocator], asked, cache))
    except GuestError as error:
        _say(f"{_named(cell)}: {error.message}\n{error.hint}")
        return KernelRun(cell=cell, failure=f"{error.message}\n{error.hint}")


def _show(design: KernelDesign, runs: list[KernelRun], folder: Path) -> None:
    summary = figures(runs)
    page = folder / PAGE
    published = shipped() / "published" / "ferreira-kernel.csv"
    ranked = shipped() / "published" / "ferreira-kernel-rankings.csv"
    page.write_text(study_page(design, runs, summary, (published, ranked)), encoding="utf-8")
    with printing():
        print_figures(make_console(), summary)
        typer.echo(f"page: {page}")


def _named(cell: Cell) -> str:
    processors = "" if cell.cpus == 1 else f", {cell.cpus} processors"
    return f"{cell.load} under {cell.allocator}, seed {cell.block}{processors}"


def _say(text: str) -> None:
    print(f"kernel: {text}", file=sys.stderr)  # noqa: T201
