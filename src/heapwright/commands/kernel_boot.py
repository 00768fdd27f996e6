# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel boot`."""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.artefacts.kernel_study.boot import KernelBoot
from heapwright.commands.kernel_build import cached_kernel
from heapwright.commands.output import Destination
from heapwright.commands.text import printing
from heapwright.kernel.boot import Asked, boot
from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import load_of
from heapwright.kernel.records import GuestError
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
    tries: int = 1

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
    result = booted(built, asked, cache, request.tries)
    if destination is not None:
        destination.write(result.model_dump_json(indent=1) + "\n")
        if destination.is_standard_output:
            return
    with printing():
        print_boot(make_console(), result)


def booted(built: Built, asked: Asked, cache: Path, tries: int, name: str = "") -> KernelBoot:
    """Raises the error of the last try. `name` is for the messages of those before it."""
    for number in range(1, tries):
        try:
            return boot(built, asked, cache).model_copy(update={"tries": number})
        except GuestError as error:
            text = f"{name}try {number} of {tries}: {error.message}\n{error.hint}"
            print(f"kernel: {text}", file=sys.stderr)  # noqa: T201
    return boot(built, asked, cache).model_copy(update={"tries": tries})
