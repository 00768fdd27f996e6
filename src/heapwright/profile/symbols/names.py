# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Names for a profile's tree of calls and its sites.

Lines know most (functions inlined into others, files); then symbol tables; what neither knows is
called by its object and address. Names are looked up on the machine where this runs. A trace from
another machine keeps only the names of those objects that are the same here.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from heapwright.artefacts.profile.calls import Calls, CodeObject, Function
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.profile.library_frames import is_interpreter, is_library, is_library_frame
from heapwright.profile.symbols import elf_symbols, lines, objects
from heapwright.profile.symbols.demangler import demangled

ROOT = Function(name="all")
NO_OBJECT = CodeObject(path="")
CUT = Function(name="(outer calls left out)")
V8_NAME = re.compile(r"JS:(?P<name>.*?) ?(?P<file>[^ ]+):(?P<line>\d{1,9}):\d+$")
Place = tuple[int, int]
Named = Mapping[Place, tuple[Function, ...]]
Known = dict[tuple[CodeObject, int], tuple[Function, ...]]
"""Names by file and address, kept for later trees of the same process."""


def named(profile: Profile, root: Path | None = None) -> Profile:
    """The profile with names; as it is if it has no stacks. `root`: as in `objects.find`."""
    if profile.calls is None:
        return profile
    calls = named_calls(profile.calls, root)
    sites = tuple(_named_site(site, calls) for site in profile.sites)
    return profile.model_copy(update={"calls": calls, "sites": sites})


def named_calls(calls: Calls, root: Path | None = None, known: Known | None = None) -> Calls:
    """The tree with names. Places in `known` are not looked up again, and new ones are added."""
    known = {} if known is None else known
    asked: dict[int, set[int]] = defaultdict(set)
    for node in calls.nodes[1:]:
        asked[node.code].add(node.address)
    places: dict[Place, tuple[Function, ...]] = {}
    new: dict[Place, tuple[Function, ...]] = {}
    for code, addresses in asked.items():
        if code < len(calls.objects):
            object_ = calls.objects[code]
            unknown = sorted(each for each in addresses if (object_, each) not in known)
            found = in_object(object_, unknown, root) if unknown else {}
            new.update({(code, address): what for address, what in found.items()})
            old = addresses.difference(unknown)
            places.update({(code, each): known[object_, each] for each in old})
        else:
            cut = code > len(calls.objects)
            new.update({(code, at): (CUT if cut else _bare("", at),) for at in addresses})
    for (code, address), functions in readable(new).items():
        places[code, address] = functions
        if code < len(calls.objects):
            known[calls.objects[code], address] = functions
    return _with_functions(calls, places)


def in_object(
    code: CodeObject, addresses: list[int], root: Path | None = None
) -> dict[int, tuple[Function, ...]]:
    """All the addresses, named as well as the files on this machine can."""
    if code.function:
        return {line: (_interpreted(code, line),) for line in addresses}
    sources = objects.find(code, root=root)
    found: dict[int, tuple[Function, ...]] = {}
    for file in sources.files:
        if not found:
            found = lines.places(file, addresses)
    symbols = elf_symbols.read(sources.files)
    for address in addresses:
        if address not in found:
            name = symbols.at(address)
            found[address] = (Function(name=name) if name else _bare(code.path, address),)
    return found


def _interpreted(code: CodeObject, line: int) -> Function:
    """A function of an interpreter. V8 writes the place into the name: `JS:load /x/app.js:10:3`."""
    found = V8_NAME.match(code.function)
    if found is None or code.path:
        return Function(name=code.function, file=code.path, line=line)
    name = found["name"] or "(anonymous)"
    return Function(name=name, file=found["file"], line=int(found["line"]))


def _bare(path: str, address: int) -> Function:
    name = path.rpartition("/")[2]
    return Function(name=f"{name}+{address:#x}" if name else f"{address:#x}")


def readable(places: Named) -> dict[Place, tuple[Function, ...]]:
    """The same, with C++ and Rust names as people write them."""
    names = demangled(function.name for functions in places.values() for function in functions)
    return {
        place: tuple(
            function.model_copy(update={"name": names.get(function.name, function.name)})
            for function in functions
        )
        for place, functions in places.items()
    }


def _with_functions(calls: Calls, places: Named) -> Calls:
    numbers: dict[Function, int] = {ROOT: 0}
    frames = [(0,)] + [
        tuple(
            numbers.setdefault(function, len(numbers))
            for function in places[node.code, node.address]
        )
        for node in calls.nodes[1:]
    ]
    return calls.model_copy(update={"functions": tuple(numbers), "frames": tuple(frames)})


def _named_site(site: Site, calls: Calls) -> Site:
    frames: list[str] = []
    own: list[int] = []
    chain = _chain(site, calls)
    interpreted = any(_object(calls, at).function for at in chain)
    for at in chain:
        code = _object(calls, at)
        in_library = not code.function and (
            is_library(code.path) or (interpreted and is_interpreter(code.path))
        )
        for number in reversed(calls.frames[at]):
            function = calls.functions[number]
            if not in_library and not is_library_frame(function.in_words, function.file):
                own.append(len(frames))
            frames.append(function.in_words)
    return site.model_copy(update={"frames": tuple(frames), "own": tuple(own)})


def _chain(site: Site, calls: Calls) -> list[int]:
    """The numbers of a site's calls, innermost first."""
    chain: list[int] = []
    at = site.call
    while at > 0:
        chain.append(at)
        at = calls.nodes[at].parent
    return chain


def _object(calls: Calls, at: int) -> CodeObject:
    """The object of a call; one without a path if it is in none."""
    code = calls.nodes[at].code
    return calls.objects[code] if code < len(calls.objects) else NO_OBJECT
