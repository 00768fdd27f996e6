# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the allocators that can be used here, and checks that a preload of each takes effect.

The name of a file is no proof. The loader resolves a soname. A small program of heapwright, run
with the library, reports the provider of its malloc (see `probe`).

A library is unusable if it does not load or does not replace malloc. The loader's message is then
the reason. A library that loads and defines malloc, but crashes or hangs in the small program,
stays usable. A comparison then measures and reports the failure.
"""

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import (
    BrokenAllocator,
    Catalogue,
    ComposedAllocator,
    Entry,
    PeerAllocator,
    SystemAllocator,
    UserAllocator,
)
from heapwright.artefacts.run.provenance import Allocator, Kind, package_version, sha256_of
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import exists, is_file
from heapwright.experiment.command_check import defines_malloc
from heapwright.experiment.probe import Probe, Prober, ProbeReport
from heapwright.experiment.treatments import Request

PROBES_AT_ONCE = 4
TCACHE_OFF = "glibc.malloc.tcache_count=0"
COMMIT = re.compile(r"-0-g[0-9a-f]{40}$")
"""The end of jemalloc's version of a release: no commits after it, and its commit."""


class Discovery:
    """Looks allocators up on this machine."""

    def __init__(
        self, catalogue: Catalogue, libraries: Path, prober: Prober, peers: Path | None = None
    ) -> None:
        """`libraries` has the allocators of heapwright, `peers` those of other projects that
        were built here."""
        self._catalogue = catalogue
        self._libraries = libraries
        self._prober = prober
        self._peers = peers

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the registry."""
        return self._catalogue.names

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups of the registry."""
        return self._catalogue.group_names

    def entry(self, request: Request) -> Entry | None:
        """The entry of the registry; None for a library that only has a path."""
        return self._catalogue.find(request.name)

    def everything(self) -> list[Allocator]:
        """All allocators of the registry, in its order, usable or not."""
        return self.look_up([Request(name) for name in self.names])

    def members(self, group: str) -> list[Allocator]:
        """The members of a group, usable or not."""
        return self.look_up([Request(name) for name in self._catalogue.group(group) or ()])

    def look_up(self, requests: Iterable[Request]) -> list[Allocator]:
        """The requested allocators, in their order, usable or not."""
        with ThreadPoolExecutor(PROBES_AT_ONCE) as pool:
            return list(pool.map(self._find, requests))

    def requested(self, requests: Sequence[Request]) -> list[Allocator]:
        """The requested allocators. Raises HeapwrightError if any is unusable."""
        found = self.look_up(requests)
        unusable = [allocator for allocator in found if not allocator.usable]
        if unusable:
            raise _refusal(unusable, self._catalogue)
        return found

    def _find(self, request: Request) -> Allocator:
        entry = self._catalogue.find(request.name)
        if request.library is not None:
            if isinstance(entry, SystemAllocator):
                raise HeapwrightError(
                    f"{request.name!r} is the C library's own, not {request.library}",
                    "give the library another name: other=path/to/library.so",
                )
            return self._find_file(request.name, request.library)
        match entry:
            case ComposedAllocator():
                return self._find_composed(entry)
            case UserAllocator():
                return self._find_own(entry)
            case BrokenAllocator():
                return _unusable(entry, Kind.COMPOSED, entry.reason)
            case SystemAllocator():
                return self._find_system(entry)
            case PeerAllocator():
                return self._find_peer(entry)
            case None:
                raise HeapwrightError(f"unknown allocator {request.name!r}")

    def _find_composed(self, entry: ComposedAllocator) -> Allocator:
        library = self._libraries / entry.library
        if not is_file(library):
            return _unusable(entry, Kind.COMPOSED, "it is not built into this installation")
        return self._judge(entry.name, Kind.COMPOSED, library, entry.caption)

    def _find_own(self, entry: UserAllocator) -> Allocator:
        found = self._judge(entry.name, Kind.COMPOSED, entry.library, entry.caption)
        if not entry.stale or found.reason:
            return found
        stale = f"built from other headers, of version {entry.stale}; to build it again: "
        again = f"heapwright compose {entry.name} --from {entry.name} --force"
        return found.model_copy(update={"reason": stale + again})

    def _find_system(self, entry: SystemAllocator) -> Allocator:
        environment = dict(entry.environment)
        probe = self._prober.run(None, environment)
        reason = ""
        usable = True
        if probe.report is None:
            usable, reason = False, f"the probe {probe.ending}"
        elif not probe.report.provider_is_libc:
            reason = f"malloc comes from {probe.report.malloc}, not from the C library"
        elif TCACHE_OFF in environment.values() and probe.report.tcache is not False:
            usable, reason = False, f"{TCACHE_OFF} does not turn the cache off in this C library"
        return Allocator(
            name=entry.name,
            kind=Kind.SYSTEM,
            caption=entry.caption,
            version=(probe.report.glibc_version or "") if probe.report else "",
            environment=environment,
            usable=usable,
            effective=not reason,
            reason=reason,
        )

    def _find_peer(self, entry: PeerAllocator) -> Allocator:
        for soname in entry.sonames:
            built = self._peers / soname if self._peers else None
            if built is not None and is_file(built):
                return self._judge(entry.name, Kind.PEER, built, entry.caption)
            path = self._prober.resolve(soname).path
            if path is not None:
                return self._judge(entry.name, Kind.PEER, path, entry.caption)
        return _unusable(entry, Kind.PEER, _how_to_have(entry))

    def _find_file(self, name: str, library: str) -> Allocator:
        path = Path(library)
        if "/" not in library and not exists(path):
            resolved = self._prober.resolve(library)
            if resolved.path is None:
                reason = f"there is no such file here, and the loader says: {resolved.words}"
                return Allocator(
                    name=name, kind=Kind.FILE, usable=False, effective=False, reason=reason
                )
            path = resolved.path
        path = path.absolute()
        if not is_file(path):
            what = "is not a file" if exists(path) else "does not exist"
            return Allocator(
                name=name,
                kind=Kind.FILE,
                path=str(path),
                usable=False,
                effective=False,
                reason=f"{path} {what}",
            )
        return self._judge(name, Kind.FILE, path)

    def _judge(self, name: str, kind: Kind, library: Path, caption: str = "") -> Allocator:
        """Probe a library that is there."""
        probe = self._prober.run(library)
        usable, reason = _verdict_on(library, probe)
        report = probe.report
        described = report.described if report else {}
        return Allocator(
            name=name,
            kind=kind,
            caption=caption,
            version=_version(library, report),
            path=str(library),
            sha256=sha256_of(library),
            usable=usable,
            effective=not reason,
            reason=reason,
            composition=described.get("composition"),
        )


def _how_to_have(entry: PeerAllocator) -> str:
    if not entry.package:
        return "not built: `make peers`, among the sources of heapwright, fetches and builds it"
    return f"not installed (package {entry.package}): no {entry.sonames[0]}"


def _verdict_on(library: Path, probe: Probe) -> tuple[bool, str]:
    """Whether a probed library is usable, and its defect if there is one."""
    report = probe.report
    if probe.words:
        return False, f"it does not load: {probe.words}"
    if report is None:
        usable = defines_malloc(library)
        what = "it loads, but" if usable else "it defines no malloc, and"
        return usable, f"{what} the probe {probe.ending}"
    if report.provider_is_libc:
        return False, "it defines no malloc: with it preloaded, malloc is still the C library's"
    if not report.comes_from(library) and not defines_malloc(library):
        return False, f"it defines no malloc: with it preloaded, malloc is {report.malloc}'s"
    if not report.consistent:
        return True, "it defines malloc, but not all of free, calloc and realloc"
    return True, "" if report.works else "it loads, but an allocation of the probe failed"


def _version(library: Path, report: ProbeReport | None) -> str:
    """The version: its own report, else its package, else the name of its file."""
    if report is not None:
        own = report.described.get("version")
        if isinstance(own, str) and own:
            return own
        if report.allocator_version:
            return COMMIT.sub("", report.allocator_version)
    return package_version(library) or library.resolve().name


def _unusable(entry: Entry, kind: Kind, reason: str) -> Allocator:
    return Allocator(
        name=entry.name,
        kind=kind,
        caption=entry.caption,
        usable=False,
        effective=False,
        reason=reason,
    )


def _refusal(unusable: Sequence[Allocator], catalogue: Catalogue) -> HeapwrightError:
    reasons = [f"{allocator.name} cannot be used: {allocator.reason}" for allocator in unusable]
    packages = []
    for allocator in unusable:
        entry = catalogue.find(allocator.name)
        if isinstance(entry, PeerAllocator) and allocator.kind is Kind.PEER and entry.package:
            packages.append(entry.package)
    hint = f"apt-get install {' '.join(packages)}" if packages else ""
    return HeapwrightError("; ".join(reasons), hint)
