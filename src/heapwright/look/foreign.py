# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Other allocators: how to recognise them, what they have at most, and what a walk counted.

Their counters are internal: the layouts differ by version and build, and parts of them are in
memory of the threads. The heap of mimalloc 2 can be walked. Of the others a look states bounds, and
names the call that prints the counters.
"""

import mmap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.look.document import Category, Counters, Foreign
from heapwright.artefacts.run.serving import GLIBC, allocator_in_use
from heapwright.look import mimalloc
from heapwright.look.process import PROC
from heapwright.look.scan import Mimalloc

OWN_MEMORY = ("heap", "arenas", "blocks", "anonymous")
"""Where an allocator may have its memory. gperftools' TCMalloc moves the program break."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an allocator."""

    text: bytes
    """That each file has which contains it, also without symbols."""
    call: str
    """Prints its counters on the standard error of the process."""
    setting: str
    """Prints them at the end of the next run; empty: none."""


KNOWN: Mapping[str, Known] = {
    "jemalloc": Known(
        b"<jemalloc>: ", "malloc_stats_print(0, 0, 0)", "MALLOC_CONF=stats_print:true"
    ),
    "mimalloc": Known(b"mimalloc: warning: ", "mi_stats_print(0)", "MIMALLOC_SHOW_STATS=1"),
    "tcmalloc": Known(b"Bytes in use by application", "malloc_stats()", ""),
}


def contained_in(file: Path) -> str:
    """The allocator that a program contains, by its texts; empty if it has none or is unreadable.

    Cost: one pass over the file for each known allocator.
    """
    try:
        with (
            file.open("rb") as opened,
            mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as bytes_,
        ):
            return next((name for name, each in KNOWN.items() if bytes_.find(each.text) >= 0), "")
    except (OSError, ValueError):  # ValueError: the file is empty
        return ""


def contained_in_program(pid: int, proc: Path = PROC) -> str:
    """The allocator that the program of a process contains."""
    return contained_in(proc / str(pid) / "exe")


def foreign(
    name: str, objects: Iterable[str], program: str, categories: Iterable[Category]
) -> Foreign:
    """The bounds of an allocator. `program` is the file if no mapped library is it."""
    own = [each for each in categories if each.name in OWN_MEMORY]
    library = next((path for path in objects if allocator_in_use([path]) == name), program)
    return Foreign(
        file=library,
        most_resident_bytes=sum(each.resident_bytes for each in own),
        lazy_free_bytes=sum(each.lazy_free_bytes for each in own),
    )


def with_counters(
    bounds: Foreign, name: str, found: Mimalloc | None, version: int, *, is_core: bool
) -> Foreign:
    """The bounds, and what the walk of the heap counted if it agrees with itself."""
    if name != mimalloc.NAME:
        unread = f"the heap of {name} cannot be read from outside"
    elif is_core:
        unread = "the version of mimalloc is not known from a core file"
    elif not version:
        unread = "the version of mimalloc is unknown; only a library states it"
    elif found is None:
        unread = f"the layout of mimalloc {mimalloc.spelled(version)} is unknown"
    elif found.problem:
        unread = (
            f"its heap changed during the look, or is damaged: {found.problem}; --pause stops the "
            "process for the look"
        )
    else:
        counters = Counters(
            version=mimalloc.spelled(version),
            live=found.live,
            free_bytes=found.free_bytes,
            resident_bytes=found.resident_bytes,
        )
        return bounds.model_copy(update={"counters": counters})
    return bounds.model_copy(update={"unread": unread})


def how_to_ask(name: str, pid: int | None) -> str:
    """How to get the counters of an allocator; without a process, at the next start."""
    known = KNOWN.get(name)
    ways = []
    if known is not None and pid is not None:
        ways.append(
            f"Its counters now: gdb -p {pid} --batch -ex 'call (void){known.call}'. This runs code "
            "in the process, and can hang it if a thread is inside malloc."
        )
    if known is not None and known.setting:
        ways.append(f"At the end of the next run: {known.setting}.")
    ways.append("Its call sites: `heapwright profile --sample 512K -- COMMAND`.")
    return " ".join(ways)


def is_foreign(name: str) -> bool:
    """Whether an allocator has no walk of its own."""
    return bool(name) and name != GLIBC and not name.startswith("granary")
