# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which cells of a design are run where not all of them are: by a share, or by defining words.

A cell is a combination of all factors but the allocators'. What the fraction can and cannot tell is
said in words with it.
"""

from collections.abc import Mapping
from dataclasses import replace

from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.file import StudyFile
from heapwright.study.combinations import Cells, Combination
from heapwright.study.extent import Extent
from heapwright.study.regular import read_words
from heapwright.study.share import choose_share

Levels = Mapping[str, tuple[Level, ...]]
SPARSE = 0.05
"""Of more cells than can be listed, fewer are not looked for."""


def choose_cells(
    file: StudyFile, levels: Levels, cells: Cells, extent: Extent, seed: int
) -> tuple[list[Combination], list[str]]:
    """The cells, and sentences on them. Raises HeapwrightError if they are far too many, or few."""
    if not cells.counts:
        raise file.error(("design", "kind"), "there is no factor but the allocators': run it all")
    if file.study.design.share is None:
        return _regular(file, levels, cells, extent)
    return _share(file, levels, cells, extent, seed)


def _share(
    file: StudyFile, levels: Levels, cells: Cells, extent: Extent, seed: int
) -> tuple[list[Combination], list[str]]:
    """Cells of a balanced fraction of a stated size, and how balanced it is."""
    share = float(file.study.design.share or 1)
    allowed = cells.count
    wanted = max(1, round(share * allowed))
    beside = len(levels[file.study.allocator_factor]) if file.study.allocator_factor else 1
    replace(extent, treatments=wanted * beside).check(file)
    if not cells.exact and allowed < SPARSE * cells.total:
        raise file.error(
            ("design", "share"),
            f"the constraints allow about {allowed:,} of {cells.total:,} cells: too few of too "
            "many to be found by chance",
            "fewer levels, or constraints between factors that follow each other in the file",
        )
    longest = max(cells.counts, default=1)
    if wanted < longest:
        raise file.error(
            ("design", "share"),
            f"{_cells(wanted)} are too few: a factor has {longest} levels, and each must be there",
            f"at least share = {longest / max(allowed, 1):.2g}",
        )
    chosen = choose_share(cells, wanted, seed)
    about = "" if cells.exact else "about "
    pairs = "" if chosen.pairs_off is None else f", each pair of levels ({_off(chosen.pairs_off)})"
    threes = "" if chosen.threes_off is None else f", each three ({_off(chosen.threes_off)})"
    return list(chosen.cells), [
        f"a fraction: {_cells(len(chosen.cells))} of {about}{allowed:,}, by chance (seed {seed}), "
        f"each level as often as in the whole design ({_off(chosen.levels_off)})"
        f"{pairs}{threes}"
    ]


def _regular(
    file: StudyFile, levels: Levels, cells: Cells, extent: Extent
) -> tuple[list[Combination], list[str]]:
    """Cells of a regular fraction, and what it can tell apart."""
    beside = file.study.allocator_factor
    counts = {name: len(each) for name, each in levels.items() if name != beside}
    fraction = read_words(file, counts)
    size = cells.total // fraction.divisor
    replace(extent, treatments=size * (len(levels[beside]) if beside else 1)).check(file)
    chosen = [cell for cell in fraction.cells() if cells.allowed(cell)]
    said = [
        f"a fraction: {_cells(len(chosen))} of {cells.total:,}, 1 in {fraction.divisor}, by "
        f"{', '.join(file.study.design.defining)}; {fraction.words}"
    ]
    if len(chosen) < size:
        said.append("constraints leave cells of the fraction out, so it is unbalanced")
    return chosen, said


def _cells(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _off(cells: float) -> str:
    """How far counts are from even, in words; rounding alone makes up to one."""
    if cells < 1e-9:
        return "exactly"
    return "to the nearest cell" if cells <= 1 else f"{cells:.1f} cells off at most"
