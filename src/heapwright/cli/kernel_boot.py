# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel boot`: the command line only; `commands.kernel_boot` does the work."""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

Kernel = Annotated[str, typer.Argument(metavar="ALLOCATOR", help="slab, slub, slob or slqb.")]
Load = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="churn, paths, memory, web, compile, nothing, or fileio (-seqwr, -rndrd, -seqrd).",
    ),
]
Scale = Annotated[str, typer.Option(metavar="NAME", help="small, medium or published.")]
Seed = Annotated[int, typer.Option(min=0, max=options.LARGEST_SEED, help="The seed of the load.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=1,
        max=options.LONGEST_S,
        help="The limit of one boot in the host's time. Default: that of the load.",
    ),
]


def boot(
    allocator: Kernel,
    load: Load = "churn",
    scale: Scale = "small",
    seed: Seed = 1,
    cpus: Annotated[
        int, typer.Option(min=1, max=8, help="More than one are noisy: compare counts only.")
    ] = 1,
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="MIB", min=64, max=2**16, help="Size of the machine. Default: the load's."
        ),
    ] = None,
    kvm: Annotated[
        bool, typer.Option("--kvm", help="Use KVM, if a guest runs with it here.")
    ] = False,
    timeout: Timeout = None,
    tries: Annotated[
        int, typer.Option(min=1, max=10, help="How many boots to try if they fail.")
    ] = 1,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write all of it; - prints it.")
    ] = None,
) -> None:
    """Boot a kernel under a load, by default in virtual time, and show the results.

    Examples:
      heapwright kernel boot slub
      heapwright kernel boot slob --load churn --seed 7 --json churn.json
      heapwright kernel boot slab --load fileio --cpus 2
      heapwright kernel boot slub --load churn --memory 192
    """
    commands.kernel_boot.boot_kernel(
        allocator,
        commands.kernel_boot.Request(
            load, scale, seed, cpus, kvm=kvm, timeout_s=timeout, memory_mib=memory, tries=tries
        ),
        json_file,
    )
