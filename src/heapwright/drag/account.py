# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The account that a program left, as both ways of watching write it, and the document made of it.

native/drag/account/report.hpp describes it. Chains of calls are places in files there. The caller
passes the names, if it has them.
"""

from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict

from heapwright.artefacts.drag.document import (
    Curves,
    Drag,
    Oddities,
    OtherSites,
    Peak,
    Provenance,
    Site,
    Some,
)

Place = tuple[str, int]
"""A file, or nothing where there is none, and an address in it."""
Namer = Callable[[Sequence[Place]], Sequence[Sequence[str]]]
"""For each place the functions there, the innermost first."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AccountCurves(_Part):
    step: int
    held: tuple[int, ...]
    needed: tuple[int, ...]


class AccountSite(_Part):
    objects: int
    bytes: int
    never_freed: Some
    never_accessed: Some
    held_area: int
    needed_area: int
    frames: tuple[tuple[int | None, int], ...]


class AccountOthers(_Part):
    sites: int
    objects: int
    bytes: int
    held_area: int
    needed_area: int


class Account(_Part):
    """What writeDrag wrote."""

    threads: int | None = None
    """That allocated; in the account of a program that was rebuilt."""

    allocated_bytes: int
    objects: int
    never_freed: Some
    never_accessed: Some
    unseen: Some = Some()
    held_area: int
    needed_area: int
    peak_held: Peak
    peak_needed: Peak
    curves: AccountCurves
    modules: tuple[str, ...]
    sites: tuple[AccountSite, ...]
    other_sites: AccountOthers
    unknown_frees: int
    overwritten: int
    unplaced: int
    misread_lines: int = 0


def document_of(account: Account, provenance: Provenance, name: Namer) -> Drag:
    """The document."""
    return Drag(
        provenance=provenance,
        total_drag=_ratio(account.held_area, account.needed_area),
        peak_increase=_ratio(account.peak_held.bytes, account.peak_needed.bytes),
        allocated_bytes=account.allocated_bytes,
        objects=account.objects,
        held_area=account.held_area,
        needed_area=account.needed_area,
        peak_held=account.peak_held,
        peak_needed=account.peak_needed,
        never_freed=account.never_freed,
        never_accessed=account.never_accessed,
        unseen=account.unseen,
        curves=Curves(
            allocated=tuple(at * account.curves.step for at in range(len(account.curves.held))),
            held=account.curves.held,
            needed=account.curves.needed,
        ),
        sites=_sites(account, name),
        other_sites=OtherSites(**account.other_sites.model_dump()),
        oddities=Oddities(
            unknown_frees=account.unknown_frees,
            overwritten=account.overwritten,
            unplaced=account.unplaced,
            misread_lines=account.misread_lines,
        ),
    )


def _ratio(held: int, needed: int) -> float | None:
    """Integers may be longer than a float can hold; their ratio is not."""
    return held / needed if needed else None


def _sites(account: Account, name: Namer) -> tuple[Site, ...]:
    drag = account.held_area - account.needed_area
    places = list(
        dict.fromkeys(place for each in account.sites for place in _places(account, each))
    )
    named = dict(zip(places, name(places), strict=True))
    return tuple(
        Site(
            frames=tuple(word for place in _places(account, each) for word in named[place]),
            objects=each.objects,
            bytes=each.bytes,
            never_freed=each.never_freed,
            never_accessed=each.never_accessed,
            held_area=each.held_area,
            needed_area=each.needed_area,
            drag_area=each.held_area - each.needed_area,
            share=(each.held_area - each.needed_area) / drag if drag else 0.0,
            idle_bytes=(each.held_area - each.needed_area) / each.bytes if each.bytes else 0.0,
        )
        for each in account.sites
    )


def _places(account: Account, site: AccountSite) -> list[Place]:
    return [
        ("" if module is None else account.modules[module], address)
        for module, address in site.frames
    ]
