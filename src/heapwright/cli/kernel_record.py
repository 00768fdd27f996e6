# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel record`: the command line only; `commands.kernel_record` does the work."""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli.kernel_boot import Kernel, Load, Scale, Seed, Timeout


def record(
    allocator: Kernel,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The kernel trace.")
    ],
    load: Load = "churn",
    scale: Scale = "small",
    seed: Seed = 1,
    cpus: Annotated[
        int, typer.Option(min=1, max=8, help="Processors. More than one makes results noisy.")
    ] = 1,
    buffer: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            metavar="MIB",
            help="Memory for the events of each processor. Default: that of the load.",
        ),
    ] = None,
    timeout: Timeout = None,
) -> None:
    """Boot a kernel under a load and record its allocation events for the models.

    Examples:
      heapwright kernel record slub --load churn -o churn.ktrace
      heapwright kernel models --trace churn.ktrace
      heapwright kernel record slob --load fileio --buffer 192 -o fileio.ktrace
    """
    commands.kernel_record.record_kernel(
        allocator,
        commands.kernel_boot.Request(load, scale, seed, cpus, timeout_s=timeout),
        output,
        buffer,
    )
