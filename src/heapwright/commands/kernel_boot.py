# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel boot`."""

import os
from dataclasses import dataclass, replace

from heapwright.commands.kernel_build import cached_kernel
from heapwright.commands.output import Destination
from heapwright.commands.text import printing
from heapwright.kernel.boot import Asked, boot
from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.loads import load_of
from heapwright.report.console import make_console
from heapwright.report.kernel.text import print_boot


@dataclass(frozen=True, slots=True)
class Request:
    """The kernel and the load of the command line."""

    load: str
    scale: str
    seed: int
    cpus: int
    kvm: bool = False
    timeout_s: float | None = None
    memory_mib: int | None = None
    """None: that of the load."""

    @property
    def asked(self) -> Asked:
        """Raises HeapwrightError for an unknown load or scale."""
        load = load_of(self.load, self.scale)
        if self.memory_mib is not None:
            load = replace(load, memory_mib=self.memory_mib)
        return Asked(load, self.seed, self.cpus, kvm=self.kvm, timeout_s=self.timeout_s)


def boot_kernel(allocator: str, request: Request, json_file: str | None) -> None:
    """Raises HeapwrightError if the boot does not complete."""
    asked = request.asked
    destination = Destination(json_file, "--json") if json_file is not None else None
    cache = kernel_cache(os.environ)
    built = cached_kernel(allocator, cache)
    result = boot(built, asked, cache)
    if destination is not None:
        destination.write(result.model_dump_json(indent=1) + "\n")
        if destination.is_standard_output:
            return
    with printing():
        print_boot(make_console(), result)
