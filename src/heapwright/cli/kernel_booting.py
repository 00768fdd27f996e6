# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel boot`."""

import os

from heapwright.cli.interrupting import ended_as_interrupted
from heapwright.cli.kernel_building import cached_kernel
from heapwright.cli.output import Destination
from heapwright.cli.text import printing
from heapwright.kernel.booting import Asked, boot
from heapwright.kernel.places import cache_home
from heapwright.report.console import make_console
from heapwright.report.kernel.text import print_boot


def boot_kernel(allocator: str, asked: Asked, json_file: str | None) -> None:
    """Raises HeapwrightError where it does not come to its end."""
    destination = Destination(json_file, "--json") if json_file is not None else None
    cache = cache_home(os.environ)
    built = cached_kernel(allocator, cache)
    with ended_as_interrupted():
        result = boot(built, asked, cache)
    if destination is not None:
        destination.write(result.model_dump_json(indent=1) + "\n")
        if destination.is_standard_output:
            return
    with printing():
        print_boot(make_console(), result)
