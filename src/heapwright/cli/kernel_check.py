# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel check`: the command line only; `commands.kernel_check` does the work."""

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli.kernel_build import Allocators, BootLimit, Jobs


def check(
    allocators: Allocators = "slub,slab,slob,slqb",
    jobs: Jobs = None,
    timeout: BootLimit = 3600,
) -> None:
    """Run the kernel's own tests and checks of an allocator in a kernel built with them.

    A failure shows the end of the kernel's log. These kernels are apart from those that are
    measured.

    Examples:
      heapwright kernel check
      heapwright kernel check -a slqb
    """
    if not commands.kernel_check.check_kernels(allocators, jobs, timeout):
        raise typer.Exit(int(ExitCode.NOTHING_COMPARED))
