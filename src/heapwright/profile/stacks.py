# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The call stacks of a file of another tool, with names.

jemalloc, TCMalloc and raw recordings of heaptrack have addresses. They are looked up in the files
that are now at the paths of the mappings. An address may be a place in its file, but symbol tables
have the addresses of segments.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from heapwright.artefacts.profile.calls import Calls, CodeObject
from heapwright.artefacts.stacks.profile import StackProfile
from heapwright.artefacts.stacks.read import read_stacks
from heapwright.profile.symbols.names import Known, named_calls
from heapwright.profile.symbols.objects import build_id

NOW = "Names are those of the files that are now at the paths of the profile"
Segments = list[tuple[int, int, int]]


def read_named_stacks(path: Path, known: Known | None = None) -> StackProfile:
    """The call stacks of a file. `known` has names of earlier files of the same process, and gets
    the new ones. Raises HeapwrightError."""
    found = read_stacks(path)
    calls = found.calls
    unnamed = [number for number in range(1, len(calls.nodes)) if not calls.frames[number]]
    if not unnamed:
        return found
    present = _present(calls, has_offsets=found.has_offsets)
    named = named_calls(present, known=known)
    notes = (*found.notes, NOW) if present.objects else found.notes
    return replace(found, calls=_joined(calls, named, set(unnamed)), notes=notes)


def _present(calls: Calls, *, has_offsets: bool) -> Calls:
    """The calls with the builds that are now on this machine, and addresses of their segments."""
    segments = [_segments(Path(each.path)) if has_offsets else [] for each in calls.objects]
    objects = tuple(
        CodeObject(path=each.path, build_id=each.build_id or _build_id(Path(each.path)))
        for each in calls.objects
    )
    nodes = tuple(
        node._replace(address=_virtual(node.address, segments[node.code]))
        if node.code < len(segments)
        else node
        for node in calls.nodes
    )
    return calls.model_copy(update={"objects": objects, "nodes": nodes})


@cache
def _build_id(path: Path) -> str:
    return build_id(path) or ""


@cache
def _segments(path: Path) -> Segments:
    """Offset, size and address of the loaded segments of a file; none if it is no ELF file."""
    try:
        with path.open("rb") as file:
            return [
                (each["p_offset"], each["p_filesz"], each["p_vaddr"])
                for each in ELFFile(file).iter_segments("PT_LOAD")
            ]
    except (OSError, ELFError, ValueError, KeyError):
        return []


def _virtual(offset: int, segments: Segments) -> int:
    for begin, size, address in segments:
        if begin <= offset < begin + size:
            return offset - begin + address
    return offset


def _joined(calls: Calls, named: Calls, unnamed: set[int]) -> Calls:
    """The named calls. Those that the file itself named keep its names."""
    functions = dict.fromkeys(named.functions)
    numbers = {function: number for number, function in enumerate(functions)}
    frames = tuple(
        named.frames[number]
        if number in unnamed
        else tuple(
            numbers.setdefault(calls.functions[each], len(numbers)) for each in calls.frames[number]
        )
        for number in range(len(calls.nodes))
    )
    return named.model_copy(update={"functions": tuple(numbers), "frames": frames})
