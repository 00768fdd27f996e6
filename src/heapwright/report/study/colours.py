# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which colour stands for which level: steps of one path for ordered levels, else apart.

All are of middling lightness, so that they are seen on white and on black. Beyond eight distinct
colours the path is divided further. The table below a chart then has the exact figures.
"""

from collections.abc import Sequence

from heapwright.report.pages.vega import BLUE, GREEN, GREY, ORANGE, PINK, SKY, VERMILION

APART = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, "#8f7a00", GREY)
PATH = ("#4a7fd4", "#1f9e96", "#7f9f1f", "#d89a10", "#e0642e", "#c0418f")
"""From cold to warm: few to many, small to large."""


def shades(levels: Sequence[str], *, ordered: bool) -> list[str]:
    """A colour a level."""
    if not ordered and len(levels) <= len(APART):
        return list(APART[: len(levels)])
    return [_on_path(place, len(levels)) for place in range(len(levels))]


def _on_path(place: int, count: int) -> str:
    """The point of the path that far along it."""
    if count <= 1:
        return PATH[0]
    along = place * (len(PATH) - 1) / (count - 1)
    at = min(int(along), len(PATH) - 2)
    parts = zip(_parts(PATH[at]), _parts(PATH[at + 1]), strict=True)
    mixed = (round(one + (other - one) * (along - at)) for one, other in parts)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
