# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What changed from one profile to another: single figures, sizes, sites.

If both characterisations were repeated, a figure has changed if the ranges of its values do not
overlap. Otherwise chance is unknown, and every difference is only shown.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heapwright.artefacts.profile.document import Profile, Spread
from heapwright.report.profile import words
from heapwright.report.profile.figures import FIGURES, Figure


@dataclass(frozen=True, slots=True)
class Change:
    """One figure in both; `beyond` says whether it changed by more than repetitions do."""

    figure: Figure
    before: float | None
    after: float | None
    beyond: bool | None = None

    @property
    def difference(self) -> float:
        return (self.after or 0) - (self.before or 0)

    @property
    def text(self) -> str:
        """The difference in words; empty if there is none."""
        return difference_text(self.before, self.after, is_share=self.figure.kind == "share")


@dataclass(frozen=True, slots=True)
class Moved:
    """Something counted in both, by its bytes; null: one of the profiles does not tell."""

    name: str
    before: int | None
    after: int | None

    @property
    def difference(self) -> int:
        """0 where one of them is not known."""
        if self.before is None or self.after is None:
            return 0
        return self.after - self.before

    @property
    def text(self) -> str:
        return difference_text(self.before, self.after)


def difference_text(before: float | None, after: float | None, *, is_share: bool = False) -> str:
    """`+12 %`, `3.4x`, `+2.1 points`, `new`, `gone`; empty if nothing changed or is known."""
    if before is None or after is None or before == after:
        return ""
    if is_share:
        return words.signed(f"{100 * abs(after - before):.1f} points", after - before)
    if not before:
        return "new"
    if not after:
        return "gone"
    ratio = after / before
    if ratio >= 2 or ratio <= 0.5:
        return f"{words.digits(ratio)}x"
    return words.signed(f"{100 * abs(ratio - 1):.1f} %", ratio - 1)


def figure_changes(before: Profile, after: Profile) -> list[Change]:
    """Every figure that one of them has."""
    spreads = [{each.figure: each for each in profile.spread} for profile in (before, after)]
    found = []
    for figure in FIGURES:
        values = figure.of(before), figure.of(after)
        if values != (None, None):
            shown = [spread.get(figure.path) for spread in spreads]
            centres = [
                value if each is None else each.mean
                for value, each in zip(values, shown, strict=True)
            ]
            found.append(Change(figure, centres[0], centres[1], _beyond(shown[0], shown[1])))
    return found


def _beyond(before: Spread | None, after: Spread | None) -> bool | None:
    if before is None or after is None:
        return None
    return before.most < after.least or after.most < before.least


def size_changes(before: Profile, after: Profile) -> list[Moved]:
    """The commonest sizes by their bytes, those that changed most first.

    A size that one profile does not list was not requested, unless its list is incomplete. Then its
    number is unknown.
    """
    lists = [{each.size: each.bytes for each in one.sizes.top} for one in (before, after)]
    whole = [len(one.sizes.top) == one.sizes.distinct for one in (before, after)]
    absent = [0 if complete else None for complete in whole]
    moved = [
        Moved(f"{size:,} B", lists[0].get(size, absent[0]), lists[1].get(size, absent[1]))
        for size in sorted(set(itertools.chain(*lists)))
    ]
    return _largest(moved)


def site_changes(before: Profile, after: Profile, *, leaked: bool) -> list[Moved]:
    """Sites by their bytes, or by those never freed, if both profiles know their names."""
    sums = _by_site(before, leaked=leaked), _by_site(after, leaked=leaked)
    if not all(sums):
        return []
    names = dict.fromkeys(itertools.chain(*sums))
    return _largest([Moved(name, sums[0].get(name, 0), sums[1].get(name, 0)) for name in names])


def _by_site(profile: Profile, *, leaked: bool) -> Mapping[str, int]:
    """Bytes by the chain of calls, which two runs have in common; numbers of stacks are not."""
    found: dict[str, int] = {}
    for site in profile.sites:
        if site.frames:
            chain = words.chain_of(site)
            value = site.never_freed_bytes if leaked else site.bytes
            found[chain] = found.get(chain, 0) + value
    return found


def _largest(moved: Sequence[Moved]) -> list[Moved]:
    changed = [each for each in moved if each.difference]
    return sorted(changed, key=lambda each: (-abs(each.difference), each.name))
