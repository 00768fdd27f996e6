# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel study`: the command line only; `commands.kernel_study` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options


def study(
    scale: Annotated[
        str, typer.Option(metavar="NAME", help="small, medium or published.")
    ] = "small",
    loads: Annotated[
        str, typer.Option("--load", metavar="NAMES", help="Loads, separated by commas.")
    ] = "paths,churn,fileio,memory",
    allocators: Annotated[
        str,
        typer.Option("-a", "--allocators", metavar="NAMES", help="Kernels, separated by commas."),
    ] = "slub,slab,slob,slqb",
    replicates: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--replicates",
            min=1,
            max=options.MOST_BLOCKS,
            help="Seeds. Default: the scale's.",
        ),
    ] = None,
    cpus: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            help="Processors, separated by commas. 1 runs in virtual time; more are noisy.",
        ),
    ] = "1",
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="MIB", help="Sizes of the machine, with commas. Default: that of each load."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, max=options.LARGEST_SEED, help="The seed of the order of the boots."),
    ] = 1,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The folder of the results.")
    ] = Path("kernel-results"),
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the study in this folder.")
    ] = False,
) -> None:
    """Boot every kernel under every load with several seeds, and write a page.

    A boot that fails is tried again. Ctrl-C keeps all boots, and --resume continues. It also tries
    the failed ones again.

    Examples:
      heapwright kernel study --scale small
      heapwright kernel study --load churn --replicates 6 -o churn-results
      heapwright kernel study --load churn --memory 112,128,192 -o memory-results
      heapwright kernel study --resume -o churn-results
    """
    wanted = commands.kernel_study.Wanted(scale, loads, allocators, replicates, cpus, memory, seed)
    if not commands.kernel_study.run_kernel_study(wanted, output, resume=resume):
        raise typer.Exit(int(ExitCode.NOTHING_COMPARED))
