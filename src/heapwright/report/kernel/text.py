# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A boot on a terminal: what it was, the figures of its load, and memory over its time."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.kernel_study.boot import KernelBoot

MOST_SAMPLES = 24
COLUMNS = ("at, s", "where", "Slab, KiB", "stacks", "page tables", "free", "fragmentation", "oom")


def print_boot(console: Console, boot: KernelBoot) -> None:
    """All of it but for each line of output."""
    console.print(Text(f"{boot.kernel.allocator}, Linux {boot.kernel.version}", style="bold"))
    console.print(
        f"load {boot.load} at scale {boot.scale}, seed {boot.seed}, processors {boot.cpus}, "
        f"{boot.memory_mib} MiB; time: {boot.time}",
        soft_wrap=True,
    )
    for name, value in boot.responses.items():
        console.print(f"  {name} {figure(value)}")
    console.print(_samples(boot))
    console.print(f"records {boot.records_sha256}", soft_wrap=True)


def figure(value: float) -> str:
    """Whole numbers and thousands whole, others with what four digits say."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"


def _samples(boot: KernelBoot) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "where" else "right", overflow="fold")
    step = max(1, -(-len(boot.samples) // MOST_SAMPLES))
    for sample in boot.samples[::step]:
        table.add_row(
            f"{sample.at_ns / 1e9:.3f}",
            sample.where,
            *(f"{each:,}" for each in (sample.slab_kib, sample.stacks_kib)),
            *(f"{each:,}" for each in (sample.page_tables_kib, sample.free_kib)),
            *(f"{each:,}" for each in (sample.fragmentation_events, sample.oom_kill)),
        )
    return table
