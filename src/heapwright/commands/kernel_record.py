# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel record`."""

import os
import sys

from heapwright.commands.kernel_boot import Request
from heapwright.commands.kernel_build import cached_kernel
from heapwright.commands.output import Destination
from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.kernel_trace import Counts
from heapwright.kernel.record import record

MOST_CACHES = 4


def record_kernel(allocator: str, request: Request, output: str, buffer_mib: int | None) -> None:
    """Raises HeapwrightError if the boot does not complete. Then nothing is written."""
    asked = request.asked
    destination = Destination(output, "-o")
    cache = kernel_cache(os.environ)
    built = cached_kernel(allocator, cache)
    lines, counts = record(built, asked, cache, buffer_mib)
    with destination.file() as trace, trace.open("w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)
    for line in told(counts):
        print(f"kernel: {line}", file=sys.stderr)  # noqa: T201


def told(counts: Counts) -> list[str]:
    """The content of the trace, and the frees without an event."""
    lines = [
        f"{counts.objects:,} objects, {counts.blocks:,} blocks of pages, {counts.marks} marks; "
        f"{counts.own_blocks:,} blocks were the allocator's own and are left out"
    ]
    if counts.unseen_objects or counts.unseen_blocks:
        lines.append(
            f"{counts.unseen_objects:,} objects and {counts.unseen_blocks:,} blocks were freed "
            "without an event: they end where their place was taken again, or its pages went"
        )
    unknown = counts.unknown_objects.total()
    if unknown or counts.unknown_blocks:
        most = ", ".join(
            f"{name} {number:,}" for name, number in counts.unknown_objects.most_common(MOST_CACHES)
        )
        lines.append(
            f"{unknown:,} objects and {counts.unknown_blocks:,} blocks were freed that no event "
            f"had shown: they are left out{f' ({most})' if most else ''}"
        )
    return lines
