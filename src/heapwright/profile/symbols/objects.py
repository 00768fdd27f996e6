# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The files that know the names of an object's code: the object itself, and its debug file.

A file that is not the build which was recorded is not asked: its names would be wrong. Debug files
are where distributions and debuggers put them, by build-id. A process in a container has a root
folder of its own, which is searched as well.
"""

from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from heapwright.artefacts.profile.calls import CodeObject
from heapwright.base.paths import below

DEBUG_ROOTS = (Path("/usr/lib/debug"),)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where names come from; `code` is None where the object has gone or changed."""

    code: Path | None
    debug: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The richest first."""
        return tuple(file for file in (self.debug, self.code) if file is not None)


def find(
    code: CodeObject, roots: tuple[Path, ...] = DEBUG_ROOTS, root: Path | None = None
) -> Sources:
    """The files of the recorded build; `root` is the root folder of its process."""
    places = [Path(code.path)]
    if root is not None:
        places.append(below(root, code.path))
        roots = (*roots, *(below(root, each) for each in roots))
    found = (path for path in places if path.is_file() and build_id(path) == code.build_id)
    return Sources(next(found, None), _debug_file(code.build_id, roots))


def build_id(path: Path) -> str | None:
    """The build-id of a file in hexadecimal, empty if it has none; None if it is no ELF file."""
    try:
        with path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if not isinstance(section, NoteSection):
                    continue
                for note in section.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        return str(note["n_desc"])
            return ""
    except (OSError, ELFError, ValueError, KeyError):
        return None


def _debug_file(build: str, roots: tuple[Path, ...]) -> Path | None:
    if len(build) < 4:
        return None
    for root in roots:
        file = root / ".build-id" / build[:2] / f"{build[2:]}.debug"
        if file.is_file():
            return file
    return None
