# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs in programs/ do, event by event, and the drag that follows from it.

The figures are computed from the definition: for each byte that is allocated, what is held and what
is needed at that moment. Nothing is shared with the code that is tested.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Event(NamedTuple):
    """One thing that a program does to an object, which has a name."""

    what: Literal["allocate", "access", "free"]
    name: str
    size: int = 0


def allocate(name: str, size: int) -> Event:
    return Event("allocate", name, size)


def access(name: str) -> Event:
    return Event("access", name)


def free(name: str) -> Event:
    return Event("free", name)


@dataclass(frozen=True, slots=True)
class Known:
    """The figures."""

    objects: int
    allocated_bytes: int
    held_area: int
    needed_area: int
    peak_held: int
    peak_needed: int
    never_freed: int
    never_accessed: int

    @property
    def total_drag(self) -> float:
        return self.held_area / self.needed_area

    @property
    def peak_increase(self) -> float:
        return self.peak_held / self.peak_needed


def drag_of(events: list[Event]) -> Known:
    """From the definition, allocation by allocation."""
    freed = {each.name: at for at, each in enumerate(events) if each.what == "free"}
    accessed = {each.name: at for at, each in enumerate(events) if each.what == "access"}
    born = {each.name: at for at, each in enumerate(events) if each.what == "allocate"}
    sizes = {each.name: each.size for each in events if each.what == "allocate"}
    held_area = needed_area = peak_held = peak_needed = 0
    for at, each in enumerate(events):
        if each.what != "allocate" or not each.size:
            continue
        alive = [name for name in born if born[name] <= at < freed.get(name, len(events))]
        needed = [name for name in alive if name == each.name or accessed.get(name, -1) > at]
        held_now, needed_now = (sum(sizes[name] for name in names) for names in (alive, needed))
        held_area += each.size * held_now
        needed_area += each.size * needed_now
        peak_held = max(peak_held, held_now)
        peak_needed = max(peak_needed, needed_now)
    return Known(
        objects=len(born),
        allocated_bytes=sum(sizes.values()),
        held_area=held_area,
        needed_area=needed_area,
        peak_held=peak_held,
        peak_needed=peak_needed,
        never_freed=len(born) - len(freed),
        never_accessed=len(born.keys() - accessed.keys()),
    )


def region() -> Iterator[Event]:
    for i in range(100):
        yield allocate(f"{i}", 64)
        yield access(f"{i}")
    for i in range(100):
        yield free(f"{i}")


def prompt() -> Iterator[Event]:
    for i in range(50):
        yield allocate(f"{i}", 100 + i)
        yield access(f"{i}")
        yield free(f"{i}")


def kept() -> Iterator[Event]:
    for i in range(40):
        yield allocate(f"{i}", 24)
    for i in range(40):
        yield access(f"{i}")


def untouched() -> Iterator[Event]:
    for i in range(30):
        yield allocate(f"malloc {i}", 48)
        yield allocate(f"calloc {i}", 30)
    for i in range(30):
        yield free(f"malloc {i}")
        yield free(f"calloc {i}")


def growing() -> Iterator[Event]:
    """What realloc is given is used then, and freed; what it gives is new."""
    before = ""
    for i in range(8):
        if before:
            yield access(before)
            yield free(before)
        before = f"{i}"
        yield allocate(before, 16 << i)
        yield access(before)
    yield allocate("filler", 1000)
    yield access("filler")
    yield access(before)
    yield free(before)
    yield allocate("shrunk", 8)
    yield allocate("more", 3 * 50)
    yield access("more")
    yield free("shrunk")  # by realloc to nothing, which keeps nothing of it
    yield free("filler")
    yield free("more")


def aligned() -> Iterator[Event]:
    names = ["memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc"]
    for name, size in zip(names, (40, 64, 72, 50, 8192), strict=True):
        yield allocate(name, size)
        yield access(name)
    yield access("posix_memalign")
    yield allocate("empty", 0)
    yield free("empty")
    for name in names:
        yield free(name)


BUFFERS = 8


def buffers() -> Iterator[Event]:
    """Each buffer is last used by a system call, in the order in which they were made."""
    for i in range(BUFFERS):
        yield allocate(f"{i}", 200)
        yield access(f"{i}")
    for i in range(BUFFERS):
        yield allocate(f"filler {i}", 300)
        yield access(f"filler {i}")
        yield access(f"{i}")
    for i in range(BUFFERS):
        yield free(f"{i}")


def strings() -> Iterator[Event]:
    """Of neighbours only every other one is looked at, by functions that read whole vectors."""
    for i in range(32):
        yield allocate(f"{i}", 257 + i)
        yield access(f"{i}")
    for at in range(4):
        yield allocate(f"filler {at}", 128)
        yield access(f"filler {at}")
        for i in range(at, 32, 8):
            yield access(f"{i}")
    for i in range(32):
        yield free(f"{i}")


def regions() -> Iterator[Event]:
    """What regions.c does, object by object."""
    phases, count = 10, 50
    for phase in range(phases):
        names = [f"{phase}/{i}" for i in range(count)]
        for name in names:
            yield allocate(name, 80)
            yield access(name)
        if phase:
            yield access(f"kept {phase - 1}")
        yield allocate(f"kept {phase}", 1000)
        yield access(f"kept {phase}")
        yield from map(free, names)
    for phase in range(phases):
        yield free(f"kept {phase}")


PROGRAMS = {
    "region": region,
    "prompt": prompt,
    "kept": kept,
    "untouched": untouched,
    "growing": growing,
    "aligned": aligned,
    "buffers": buffers,
    "strings": strings,
}
KNOWN = {name: drag_of(list(events())) for name, events in PROGRAMS.items()}
