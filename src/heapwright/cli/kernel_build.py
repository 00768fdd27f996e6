# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel build`: the command line only; `commands.kernel_build` does the work."""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

Allocators = Annotated[
    str,
    typer.Option(
        "-a",
        "--allocators",
        metavar="NAMES",
        help="slab, slub, slob or slqb, separated by commas.",
    ),
]

Jobs = Annotated[
    int | None,
    typer.Option("-j", "--jobs", min=1, max=4096, help="Default: as many as processors."),
]

Again = Annotated[bool, typer.Option("--again", help="Also build what the cache has already.")]

BootLimit = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=1,
        max=options.LONGEST_S,
        help="The limit of one boot in the host's time.",
    ),
]


def build(
    allocators: Allocators = "slub,slab,slob,slqb",
    jobs: Jobs = None,
    again: Again = False,
    keep_source: Annotated[
        bool, typer.Option("--keep-source", help="Keep the unpacked source, which takes 1 GB.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Build a kernel for each allocator from the distribution's source package.

    SLQB was never part of a released kernel; a patch adds it to the source. The kernels are kept in
    the cache folder.

    Examples:
      heapwright kernel build
      heapwright kernel build -a slub -j 2
    """
    commands.kernel_build.build_kernels(
        allocators, jobs, again=again, keep_source=keep_source, as_json=as_json
    )
