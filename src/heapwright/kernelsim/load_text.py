# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A load as the text that heapwright-kernelsim draws from (native/kernelsim/LOAD.md)."""

from collections.abc import Iterator

from heapwright.artefacts.kernelsim.load import Activity, KernelLoad, Life, Lifetime, Part

MOBILITIES = {"unmovable": 0, "movable": 1, "reclaimable": 2}


def load_text(load: KernelLoad) -> str:
    """The whole of it."""
    return "\n".join(_lines(load)) + "\n"


def _lines(load: KernelLoad) -> Iterator[str]:
    yield "heapwright-kernel-load 1"
    yield f"memory {load.memory}"
    yield f"operations {load.operations}"
    yield f"nanoseconds {load.nanoseconds!r}"
    yield f"caches {len(load.cache)}"
    for name, kind in load.cache.items():
        flags = f"{int(kind.constructor)} {int(kind.reclaimable)}"
        yield f"cache {kind.size} {kind.align} {flags} {name}"
    fill = (0, 0) if load.fill is None else (load.fill.share, load.fill.holes)
    yield f"fill {fill[0]!r} {fill[1]!r}"
    reclaim = (0, 0) if load.reclaim is None else (load.reclaim.every, load.reclaim.pages)
    yield f"reclaim {reclaim[0]} {reclaim[1]}"
    numbers = {name: number for number, name in enumerate(load.cache)}
    yield f"activities {len(load.activity)}"
    for activity in load.activity:
        yield from _activity(activity, numbers)
    yield "end"


def _activity(activity: Activity, numbers: dict[str, int]) -> Iterator[str]:
    head = f"activity {activity.weight!r} {activity.elsewhere!r} {_life(activity.life)}"
    yield f"{head} {len(activity.parts)}"
    for part in activity.parts:
        life = "with" if part.life is None else _life(part.life)
        yield f"{_what(part, numbers)} {_pair(part.count)} {life}"


def _what(part: Part, numbers: dict[str, int]) -> str:
    if part.cache is not None:
        return f"object {numbers[part.cache]}"
    if part.bytes_ is not None:
        return f"general {_pair(part.bytes_)}"
    return f"pages {part.pages} {MOBILITIES[part.mobility]}"


def _pair(value: int | tuple[int, int]) -> str:
    low, high = value if isinstance(value, tuple) else (value, value)
    return f"{low} {high}"


def _life(life: Life) -> str:
    if not isinstance(life, Lifetime):
        return life
    if life.mean is not None:
        return f"mean {life.mean}"
    assert life.between is not None
    return f"between {_pair(life.between)}"
