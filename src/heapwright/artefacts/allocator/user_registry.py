# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The user's own allocators: one folder each, with a header, a library and an entry.

    $HEAPWRIGHT_HOME/allocators/NAME/{NAME.hpp, libheapwright-NAME.so, entry.toml}

The entry is one `[[composed]]` of the catalogue's own form, and says besides what the library was
built with. A bad entry does not affect the others. It is listed with the reason and cannot be used.
"""

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import (
    BrokenAllocator,
    Catalogue,
    ComposedAllocator,
    UserAllocator,
    read_catalogue,
    read_composed,
)
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_file, is_folder

VARIABLE = "HEAPWRIGHT_HOME"
ENTRY = "entry.toml"
HEADERS = ("include/heapwright", "preload")


@dataclass(frozen=True, slots=True)
class Built:
    """What a library was built with."""

    version: str
    headers: str
    """The hash of the headers that were installed."""
    compiler: str


def user_home(environment: Mapping[str, str]) -> Path:
    """Where this user's things are kept: $HEAPWRIGHT_HOME, $XDG_DATA_HOME/heapwright, or below the
    home folder."""
    if named := environment.get(VARIABLE):
        return Path(named).absolute()
    data = environment.get("XDG_DATA_HOME", "")
    if data and Path(data).is_absolute():  # the specification ignores others
        return Path(data) / "heapwright"
    return Path(environment.get("HOME") or Path.home()) / ".local" / "share" / "heapwright"


def user_allocators(environment: Mapping[str, str]) -> Path:
    """The folder of the user's registry; it need not be there."""
    return user_home(environment) / "allocators"


def built_peers(environment: Mapping[str, str]) -> Path:
    """Where `make peers` leaves other people's libraries; it need not be there."""
    return user_home(environment) / "peers"


def read_registry(native: Path, allocators: Path) -> Catalogue:
    """The catalogue of an installation together with the user's own registry."""
    catalogue = read_catalogue(native / "catalogue" / "allocators.toml")
    try:
        folders = sorted(each for each in allocators.iterdir() if each.name[0] != ".")
    except OSError:
        return catalogue
    if not folders:
        return catalogue
    headers = headers_hash(native)
    own = tuple(_read_own(folder, catalogue, headers) for folder in folders if is_folder(folder))
    return Catalogue(catalogue.composed, catalogue.system, catalogue.peers, own)


def _read_own(folder: Path, catalogue: Catalogue, headers: str) -> UserAllocator | BrokenAllocator:
    name = folder.name
    if catalogue.find(name) is not None:
        again = f"heapwright compose NEWNAME --file {folder / name}.hpp"
        reason = f"the catalogue has this name now; under another name: {again}"
        return BrokenAllocator(f"{name} (yours)", reason, str(folder))
    try:
        entry, built = read_entry(folder)
    except HeapwrightError as error:
        return BrokenAllocator(name, f"its entry cannot be used: {error.message}", str(folder))
    if entry.name != name:
        return BrokenAllocator(name, f"its entry speaks of {entry.name!r}", str(folder))
    if not is_file(folder / entry.library):
        return BrokenAllocator(name, f"its library is missing: {entry.library}", str(folder))
    return UserAllocator(
        entry.name,
        entry.header,
        entry.type,
        entry.caption,
        folder=folder,
        stale="" if built.headers == headers else built.version,
        entry_points=entry.entry_points,
    )


def read_entry(folder: Path) -> tuple[ComposedAllocator, Built]:
    """Read one entry. Raises HeapwrightError."""
    path = folder / ENTRY
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HeapwrightError(f"{ENTRY} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HeapwrightError(f"{ENTRY} is not a TOML file: {error}") from error
    if unknown := set(document) - {"composed", "built"}:
        raise HeapwrightError(f"{ENTRY}: unknown section {', '.join(sorted(unknown))}")
    entries = read_composed(path, document)
    if len(entries) != 1:
        raise HeapwrightError(f"{ENTRY} has {len(entries)} allocators instead of one")
    built = document.get("built")
    keys = ("version", "headers", "compiler")
    if not isinstance(built, dict) or not all(isinstance(built.get(key), str) for key in keys):
        raise HeapwrightError(f"{ENTRY}: [built] must have the texts {', '.join(keys)}")
    return entries[0], Built(*(built[key] for key in keys))


def write_entry(folder: Path, entry: ComposedAllocator, built: Built) -> None:
    """Write the entry of an allocator beside its library."""
    points = ", ".join(map(_quoted, entry.entry_points))
    offers = f"entry_points = [{points}]\n" if points else ""
    text = f"""# Written by heapwright compose.
[[composed]]
name = {_quoted(entry.name)}
header = {_quoted(entry.header)}
type = {_quoted(entry.type)}
caption = {_quoted(entry.caption)}
{offers}
[built]
version = {_quoted(built.version)}
headers = {_quoted(built.headers)}
compiler = {_quoted(built.compiler)}
"""
    (folder / ENTRY).write_text(text, encoding="utf-8")


def _quoted(text: str) -> str:
    printable = "".join(each if each.isprintable() else " " for each in text)
    return json.dumps(printable, ensure_ascii=False)


def headers_hash(native: Path) -> str:
    """One hash for all installed headers that a composition is made from.

    `native` is the folder of the compiled parts.
    """
    digest = hashlib.sha256()
    for folder in HEADERS:
        for path in sorted((native / folder).rglob("*")):
            if is_file(path):
                digest.update(os.fsencode(path.relative_to(native)) + b"\0")
                try:
                    digest.update(path.read_bytes() + b"\0")
                except OSError:
                    digest.update(b"unreadable\0")
    return digest.hexdigest()
