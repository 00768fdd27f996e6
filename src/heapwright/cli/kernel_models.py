# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel models`: the kernel's four object allocators under one load, in user space.

This file is the command line only; `commands.kernel_models` does the work.
docs/reference/kernel-models.md is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options


def models(
    load: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A load by its name, or a file; list names them."),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A kernel trace, replayed.")
    ] = None,
    models: Annotated[
        str, typer.Option("-m", "--models", metavar="NAMES", help="Models, separated by commas.")
    ] = "slab,slob,slub,slqb",
    cpus: Annotated[
        str | None,
        typer.Option(
            metavar="N,…",
            help="Numbers of simulated processors, 1 to 8. Default: 4; of a trace: its own.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=options.LARGEST_SEED, help="The same seed draws the same traffic."),
    ] = None,
    operations: Annotated[
        int | None,
        typer.Option(
            min=1, max=2**28, metavar="N", help="Another length of the load, in operations."
        ),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=16, max=2**20, metavar="MIB", help="Another size of the machine."),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(min=1, max=1000, help="Run each model this often. The shortest time counts."),
    ] = 3,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts", help="Also count virtual instructions, locks and moved cache lines."
        ),
    ] = False,
    caches: Annotated[
        bool, typer.Option("--caches", help="Also print the table of caches.")
    ] = False,
    kept_trace: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the traffic as a kernel trace."),
    ] = None,
    json_file: options.JsonFile = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print the table only.")] = False,
) -> None:
    """Run kernel-like traffic on models of SLAB, SLOB, SLUB and SLQB.

    Examples:
      heapwright kernel models --load churn
      heapwright kernel models --load fileio-like --cpus 1,2,4,8 --json models.json
      heapwright kernel models --load mine.toml --models slab,slqb --caches
      heapwright kernel models --load messages --cpus 1,8 --counts
      heapwright kernel models --trace boot.ktrace
    """
    commands.kernel_models.run_models(
        commands.kernel_models.Options(
            load=load,
            trace=trace,
            models=models,
            cpus=cpus,
            seed=seed,
            operations=operations,
            memory=memory,
            rounds=rounds,
            counts=counts,
            caches=caches,
            kept_trace=kept_trace,
            json_file=json_file,
            quiet=quiet,
        )
    )
