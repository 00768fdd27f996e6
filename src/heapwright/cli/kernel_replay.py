# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel replay`: the command line only; `commands.kernel_replay` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options
from heapwright.cli.kernel_build import Again, Allocators, BootLimit, Jobs


def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A kernel trace.")],
    allocators: Allocators = "slub,slab,slob,slqb",
    jobs: Jobs = None,
    again: Again = False,
    timeout: BootLimit = 1800,
    json_file: options.JsonFile = None,
) -> None:
    """Replay a kernel trace in real kernels, and show the slab memory that it takes there.

    These kernels are built with the replay, apart from those that are measured. With one processor
    the time is virtual.

    Examples:
      heapwright kernel replay churn.ktrace
      heapwright kernel replay web.ktrace -a slub,slqb --json web.json
    """
    wanted = commands.kernel_replay.Options(allocators, trace, jobs, timeout, again, json_file)
    commands.kernel_replay.replay_trace(wanted)
