# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The registry of allocators, read from `catalogue/allocators.toml`.

The same file tells the build what to compile and the laboratory what to look for.
`artefacts.allocator.user_registry` adds the user's compositions. It is read strictly. An unknown
key, a missing one or one of the wrong type is an error that names the entry. A registry that is
silently half read would make an allocator vanish from a comparison.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from heapwright.base.errors import HeapwrightError


@dataclass(frozen=True, slots=True)
class ComposedAllocator:
    """A shipped allocator: a composition of heap layers, built into a library of its own."""

    name: str
    header: str
    type: str
    caption: str
    entry_points: tuple[str, ...] = ()
    """What the library offers besides malloc and its kin: files of native/preload/entry_points/."""
    settings: tuple[str, ...] = ()
    """Variables that it reads: the one with all settings first; NAME_* stands for several."""

    @property
    def library(self) -> str:
        """The file name of the library that the build makes of it."""
        return f"libheapwright-{self.name}.so"


@dataclass(frozen=True, slots=True)
class SystemAllocator:
    """The C library's own, in one of the ways it can be set up; nothing is preloaded."""

    name: str
    caption: str
    environment: tuple[tuple[str, str], ...] = ()
    settings: tuple[str, ...] = ()
    """Variables, as for a composition."""


@dataclass(frozen=True, slots=True)
class PeerAllocator:
    """An allocator of another project. Its library is found by one of its names, among the
    libraries built here or by the loader."""

    name: str
    sonames: tuple[str, ...]
    package: str
    """The distribution's; empty for what only `make peers` brings."""
    caption: str
    settings: tuple[str, ...] = ()
    """Variables, as for a composition."""


@dataclass(frozen=True, slots=True)
class UserAllocator:
    """One that the user has composed."""

    name: str
    header: str
    """Its name inside of `folder`."""
    type: str
    caption: str
    folder: Path
    stale: str = ""
    """The version that it was built for, if the headers have changed since."""
    entry_points: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        """Variables, as for a composition: those of granary, if it offers granary's functions."""
        return ("HEAPWRIGHT_GRANARY",) if "granary" in self.entry_points else ()

    @property
    def library(self) -> Path:
        return self.folder / f"libheapwright-{self.name}.so"


@dataclass(frozen=True, slots=True)
class BrokenAllocator:
    """Something in the user's registry that cannot be used, and why."""

    name: str
    reason: str
    folder: str
    caption: str = ""


ALL = "all"
"""The group of everything that is registered."""
DEFAULT = "default"
"""The group that is compared where nothing is named."""
_ENTRY_POINTS = re.compile(r"[a-z][a-z0-9_]*")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*(_\*)?")

Entry = ComposedAllocator | UserAllocator | BrokenAllocator | SystemAllocator | PeerAllocator


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that is registered, in the order of the file."""

    composed: tuple[ComposedAllocator, ...]
    system: tuple[SystemAllocator, ...]
    peers: tuple[PeerAllocator, ...]
    own: tuple[UserAllocator | BrokenAllocator, ...] = ()
    """The user's."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of several allocators: those of the file, and `all`."""

    def __iter__(self) -> Iterator[Entry]:
        yield from self.composed
        yield from self.own
        yield from self.system
        yield from self.peers

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self)

    def group(self, name: str) -> tuple[str, ...] | None:
        """The members of a group; None if it is none. The user's own belong to the default."""
        if name == ALL:
            return self.names
        if name == DEFAULT:
            named = self.groups.get(DEFAULT, self.names)
            return tuple(dict.fromkeys([*named, *(entry.name for entry in self.own)]))
        return self.groups.get(name)

    @property
    def group_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((ALL, DEFAULT, *self.groups)))

    def find(self, name: str) -> Entry | None:
        return next((entry for entry in self if entry.name == name), None)


def read_catalogue(path: Path) -> Catalogue:
    """Read and check the registry at `path`."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HeapwrightError(
            f"the registry of allocators cannot be read: {error}",
            "heapwright is not installed completely: run pip install again",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HeapwrightError(f"{path} is not a TOML file: {error}") from error
    unknown = set(document) - {"composed", "system", "peer", "groups"}
    if unknown:
        raise HeapwrightError(f"{path}: unknown section {', '.join(sorted(unknown))}")
    catalogue = Catalogue(
        composed=read_composed(path, document),
        system=tuple(_system(table) for table in _tables(path, document, "system")),
        peers=tuple(_peer(table) for table in _tables(path, document, "peer")),
    )
    for name in catalogue.names:
        if catalogue.names.count(name) > 1:
            raise HeapwrightError(f"{path}: the name {name!r} is registered twice")
    return replace(catalogue, groups=_groups(path, document, catalogue.names))


def _groups(
    path: Path, document: Mapping[str, object], names: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """The groups of the file; each has its own name and registered members only."""
    groups = {}
    for name, members in cast(dict[str, object], document.get("groups", {})).items():
        if not isinstance(members, list) or not all(member in names for member in members):
            raise HeapwrightError(f"{path}: the group {name!r} must be a list of registered names")
        if name in names or name == ALL:
            raise HeapwrightError(f"{path}: the group {name!r} has the name of something else")
        groups[name] = tuple(members)
    return groups


class _Table:
    """One entry of the file; takes the keys out one by one, so that what is left is unknown."""

    def __init__(self, path: Path, section: str, number: int, values: Mapping[str, object]):
        self._values = dict(values)
        name = values.get("name")
        entry = repr(name) if isinstance(name, str) else f"entry {number}"
        self._where = f"{path}: [[{section}]] {entry}"

    def fail(self, what: str) -> HeapwrightError:
        return HeapwrightError(f"{self._where}: {what}")

    def has(self, key: str) -> bool:
        return key in self._values

    def text(self, key: str) -> str:
        value = self._values.pop(key, None)
        if not isinstance(value, str) or not value:
            raise self.fail(f"{key} must be a text that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._values.pop(key, None)
        if not isinstance(value, list) or not value:
            raise self.fail(f"{key} must be a list that is not empty")
        if not all(isinstance(item, str) and item for item in value):
            raise self.fail(f"{key} must hold texts only")
        return tuple(cast(list[str], value))

    def settings(self, key: str) -> tuple[tuple[str, str], ...]:
        value = self._values.pop(key, {})
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise self.fail(f"{key} must be a table of texts")
        return tuple(cast(dict[str, str], value).items())

    def variables(self, key: str) -> tuple[str, ...]:
        names = self.texts(key) if self.has(key) else ()
        if not all(_VARIABLE.fullmatch(name) for name in names):
            raise self.fail(f"{key} must hold names of variables, or their beginnings as in NAME_*")
        return names

    def finish(self) -> None:
        if self._values:
            raise self.fail(f"unknown key {', '.join(sorted(self._values))}")


def _tables(path: Path, document: Mapping[str, object], section: str) -> list[_Table]:
    entries = document.get(section, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise HeapwrightError(f"{path}: write [[{section}]], one for each allocator")
    return [_Table(path, section, number, entry) for number, entry in enumerate(entries, 1)]


def read_composed(path: Path, document: Mapping[str, object]) -> tuple[ComposedAllocator, ...]:
    """The compositions of a document; the user's entries are of the same form."""
    return tuple(_composed(table) for table in _tables(path, document, "composed"))


def _composed(table: _Table) -> ComposedAllocator:
    entry = ComposedAllocator(
        name=table.text("name"),
        header=table.text("header"),
        type=table.text("type"),
        caption=table.text("caption"),
        entry_points=table.texts("entry_points") if table.has("entry_points") else (),
        settings=table.variables("settings"),
    )
    if not all(_ENTRY_POINTS.fullmatch(each) for each in entry.entry_points):
        raise table.fail("entry_points must be names of files, without their ending")
    table.finish()
    return entry


def _system(table: _Table) -> SystemAllocator:
    entry = SystemAllocator(
        name=table.text("name"),
        caption=table.text("caption"),
        environment=table.settings("environment"),
        settings=table.variables("settings"),
    )
    table.finish()
    return entry


def _peer(table: _Table) -> PeerAllocator:
    entry = PeerAllocator(
        name=table.text("name"),
        sonames=table.texts("sonames"),
        package=table.text("package") if table.has("package") else "",
        caption=table.text("caption"),
        settings=table.variables("settings"),
    )
    table.finish()
    return entry
