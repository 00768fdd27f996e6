# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel study`: makes the boots in order, keeps each at once, then
writes the page."""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from heapwright.analysis.kernel_study import figures
from heapwright.artefacts.kernel_study.document import (
    Cell,
    KernelDesign,
    KernelRun,
    append_run,
    latest_runs,
    read_design,
    write_design,
)
from heapwright.artefacts.run.provenance import read_environment
from heapwright.base.errors import HeapwrightError
from heapwright.commands.kernel_boot import booted
from heapwright.commands.kernel_build import cached_kernel, made_kernels, parse_allocators
from heapwright.commands.text import printing
from heapwright.kernel.boot import Asked
from heapwright.kernel.design import REPLICATES, Factors, cells
from heapwright.kernel.folders import kernel_cache, shipped
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import load_of
from heapwright.kernel.machine import MOST_CPUS, find_qemu
from heapwright.kernel.records import GuestError
from heapwright.report.console import make_console
from heapwright.report.kernel.page import study_page
from heapwright.report.kernel.summary import load_of as load_named
from heapwright.report.kernel.summary import print_figures

PAGE = "index.html"
TRIES = 2
"""Boots of a cell. A guest on several processors, or under a limit of the host's time, may fail
once."""
LEAST_MIB, MOST_MIB = 64, 1 << 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command line."""

    scale: str
    loads: str
    allocators: str
    replicates: int | None
    cpus: str
    memory: str | None
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
    runs = latest_runs(folder)
    try:
        for number, cell in enumerate(design.cells, start=1):
            if cell not in runs or runs[cell].boot is None:
                _say(f"{number}/{len(design.cells)}: {_named(cell)}")
                runs[cell] = _booted(cell, design, kernels[cell.allocator], cache)
                append_run(folder, runs[cell])
    except KeyboardInterrupt:
        _say(f"broken off; to go on: heapwright kernel study --resume -o {folder}")
        raise
    _show(design, list(runs.values()), folder)
    return all(run.boot is not None for run in runs.values())


def _designed(wanted: Wanted, cache: Path) -> KernelDesign:
    factors = factors_of(wanted)
    made = made_kernels(factors.allocators, cache, len(os.sched_getaffinity(0)))
    blocks = wanted.replicates or REPLICATES[wanted.scale]
    return KernelDesign(
        scale=wanted.scale,
        seed=wanted.seed,
        kernels={built.allocator: built.key for built in made},
        cells=cells(factors, blocks, wanted.seed),
        machine=read_environment([], dict(os.environ)),
    )


def factors_of(wanted: Wanted) -> Factors:
    """The levels that the options name. Raises HeapwrightError before anything is built."""
    loads = [each.strip() for each in wanted.loads.split(",") if each.strip()]
    for load in loads:
        load_of(load, wanted.scale)
    return Factors(
        parse_allocators(wanted.allocators),
        loads,
        _processors(wanted.cpus),
        _memories(wanted.memory),
    )


def _processors(text: str) -> list[int]:
    try:
        counts = [int(each) for each in text.split(",")]
    except ValueError:
        counts = [0]
    if not all(1 <= each <= MOST_CPUS for each in counts):
        raise HeapwrightError(f"--cpus {text}: numbers from 1 to {MOST_CPUS}, with commas")
    return counts


def _memories(text: str | None) -> list[int]:
    """Sizes of the machine in MiB. None is the size that each load states."""
    if text is None:
        return [0]
    try:
        sizes = [int(each) for each in text.split(",")]
    except ValueError:
        sizes = [0]
    if not all(LEAST_MIB <= each <= MOST_MIB for each in sizes):
        raise HeapwrightError(
            f"--memory {text}: MiB from {LEAST_MIB} to {MOST_MIB}, with commas",
            "the machine must hold the load: --memory 128,256",
        )
    return list(dict.fromkeys(sizes))


def _same(built: Built, key: str) -> Built:
    if built.key != key:
        raise HeapwrightError(
            f"the study was begun with the kernel {key}, and there is {built.key}",
            "begin a new study in another folder: -o",
        )
    return built


def _booted(cell: Cell, design: KernelDesign, built: Built, cache: Path) -> KernelRun:
    """The boot of this cell. One that failed is tried again."""
    load = load_of(cell.load, design.scale)
    if cell.memory_mib:
        load = replace(load, memory_mib=cell.memory_mib)
    asked = Asked(load, seed=cell.block, cpus=cell.cpus)
    try:
        boot = booted(built, asked, cache, TRIES, f"{_named(cell)}, ")
    except GuestError as error:
        failure = f"{error.message}\n{error.hint}"
        _say(f"{_named(cell)}, try {TRIES} of {TRIES}: {failure}")
        return KernelRun(cell=cell, failure=failure, tries=TRIES)
    return KernelRun(cell=cell, boot=boot, tries=boot.tries)


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
    return f"{load_named(cell)} under {cell.allocator}, seed {cell.block}"


def _say(text: str) -> None:
    print(f"kernel: {text}", file=sys.stderr)  # noqa: T201
