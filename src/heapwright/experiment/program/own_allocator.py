# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Is a program linked to an allocator of its own? Then its distribution has chosen this allocator.

A preload works as in any other program, because a preloaded library comes before linked ones.
Without a preload, malloc is that of the linked allocator and not of the C library. A treatment of
the C library must therefore preload the C library.
"""

import re
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

ALLOCATORS = re.compile(r"lib(jemalloc|tcmalloc|mimalloc|tbbmalloc|hoard|snmalloc|rpmalloc|scudo)")
C_LIBRARY = re.compile(r"(/\S*/libc\.so\.6|/\S*/libc-2\.[0-9]+\.so)$")


@cache
def linked_allocators(executable: Path) -> tuple[str, ...]:
    """The allocator libraries that a program is linked to; none for a file that is no ELF
    program."""
    try:
        with executable.open("rb") as file:
            dynamic = ELFFile(file).get_section_by_name(".dynamic")
            if not isinstance(dynamic, DynamicSection):
                return ()
            tags = [str(getattr(tag, "needed", "")) for tag in dynamic.iter_tags("DT_NEEDED")]
    except (ELFError, OSError, ValueError, AttributeError, UnicodeDecodeError):
        return ()
    return tuple(name for name in tags if ALLOCATORS.match(name))


@cache
def c_library() -> Path | None:
    """The C library of this process and of the programs that it starts; None: unknown."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        match = C_LIBRARY.search(line)
        if match:
            return Path(match[1])
    return None
