# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Boots a kernel under a load, and makes a kernel trace of the allocation events that it recorded.

The kernel records from early in its boot into ring buffers. The machine has memory for them beside
the load's own. The kernel counts the events that do not fit. With lost events no trace is written,
because it would be wrong. The guest sends its buffers when the load is over
(native/guest/events.c).

The order of the events of several processors follows from their times. A guest of several
processors may fail to measure its clock, and then counts ticks of 10 ms. The order within a tick is
unknown, so no trace is written.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from heapwright.kernel.boot import Asked, MachineExtras, check_guest, ran
from heapwright.kernel.events import Event, Recording, events_of
from heapwright.kernel.image_cache import Built
from heapwright.kernel.kernel_trace import Counts, Head, Writer
from heapwright.kernel.loads import FILE_KINDS
from heapwright.kernel.records import GuestError, Records, read_records

EVENTS = (
    *("kmem_cache_alloc", "kmem_cache_free", "kmalloc", "kfree"),
    *("mm_page_alloc", "mm_page_free", "mm_page_alloc_extfrag"),
)
BUFFERS_MIB = {
    "nothing": 8,
    "paths": 32,
    "churn": 24,
    "memory": 24,
    "web": 48,
    "compile": 96,
    **dict.fromkeys(FILE_KINDS, 64),
}
"""Of each processor's buffer, for the scale small."""
DATA_OF_PAGE = 4080
"""Bytes of events in a page of a buffer."""
COARSE_NS = 1_000_000
"""A clock with steps of this length counts ticks."""
PAGES = b'{"record":"pages"'


def kernel_words(buffer_mib: int) -> tuple[str, ...]:
    """Options of the kernel: the events to record from the start, and to drop new ones when the
    buffer is full."""
    return (
        "trace_event=" + ",".join(f"kmem:{name}" for name in EVENTS),
        f"trace_buf_size={buffer_mib}M",
        "trace_clock=mono",
        "trace_options=nooverwrite",
    )


def record(
    built: Built, asked: Asked, cache: Path, buffer_mib: int | None = None
) -> tuple[Iterator[str], Counts]:
    """The lines of a kernel trace, and what is counted while they are read.

    Raises HeapwrightError; GuestError where events were lost.
    """
    buffer = buffer_mib or BUFFERS_MIB[asked.load.name]
    beside = MachineExtras(kernel_words(buffer), buffer * asked.cpus, {"recorded": 1})
    _, taken = ran(built, asked, cache, beside)
    records, recording = split(taken.raw, taken.console)
    check_guest(records, built, asked)
    check_whole(recording, buffer)
    events = events_of(recording)
    check_clock(events, asked.cpus)
    head = Head(
        version=built.version,
        allocator=built.allocator,
        words=f"{asked.load.name} {asked.load.scale} seed {asked.seed}",
        cpus=asked.cpus,
        descriptors=early_descriptors(buffer),
    )
    writer = Writer(events, head)
    return writer.lines(), writer.counts


def early_descriptors(buffer_mib: int) -> int:
    """Descriptors of the ring buffers' pages that existed before the first event.

    These are the descriptors of the first processor. The kernel makes the buffer of another
    processor when it brings that processor up, and records these requests. Source:
    __ring_buffer_alloc and trace_rb_cpu_prepare of kernel/trace/ring_buffer.c of Linux 6.1.
    """
    return -(-(buffer_mib << 20) // DATA_OF_PAGE)


def split(raw: bytes, console: tuple[str, ...]) -> tuple[Records, Recording]:
    """What a guest recorded, and apart from it what it sent of its events. Raises GuestError."""
    plain = bytearray()
    recording = Recording()
    at = 0
    while at < len(raw):
        end = raw.find(b"\n", at) + 1 or len(raw)
        line = raw[at:end]
        at = end
        if not line.startswith(PAGES):
            plain += line
            _keep(line, recording)
            continue
        about = json.loads(line)
        size = int(about["bytes"])
        if at + size > len(raw):
            break  # the records then lack their end, which is said below
        recording.pages.setdefault(int(about["cpu"]), bytearray()).extend(raw[at : at + size])
        at += size
    return read_records(bytes(plain), console), recording


def _keep(line: bytes, recording: Recording) -> None:
    if line.startswith(b'{"record":"field"'):
        recording.fields.append(json.loads(line))
    elif line.startswith(b'{"record":"buffer"'):
        about = json.loads(line)
        recording.entries += int(about["entries"])
        recording.lost += int(about["lost"])


def check_whole(recording: Recording, buffer_mib: int) -> None:
    """Raises GuestError where events were lost, or none came."""
    if recording.lost > 0:
        raise GuestError(
            f"the kernel lost {recording.lost:,} of its events, for its buffer of {buffer_mib} MiB "
            f"was full at {recording.entries:,}; a trace with holes is none",
            f"--buffer {2 * buffer_mib}",
        )
    if recording.entries == 0 or not recording.pages:
        raise GuestError("the kernel recorded no event", "heapwright kernel build --again")


def check_clock(events: Sequence[Event], cpus: int) -> None:
    """Raises GuestError if the times do not give the order of the events of several processors."""
    steps = (later.time - earlier.time for earlier, later in pairwise(events))
    least = min((step for step in steps if step > 0), default=0)
    if cpus > 1 and least >= COARSE_NS:
        raise GuestError(
            f"the guest's clock has steps of {least / 1e6:.0f} ms, so the order of the events of "
            f"its {cpus} processors is unknown",
            "record again, on a machine with less other work: the guest could not measure its "
            "clock while it started",
        )
