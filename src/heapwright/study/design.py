# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a study comes to on a machine: its treatments, and what is left out, each with the reason.

Levels that the machine cannot give are dropped and named: more processors than there are, an
allocator that is not usable. Then the constraints leave combinations out, and a fraction takes some
of the rest. It takes combinations of all factors but the allocators', so that each selected
combination runs under every allocator. How large a design is, is known before a treatment is made;
one that is too large is refused with its size. The same study, machine and seed give the same
treatments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.file import StudyFile
from heapwright.artefacts.study.treatment import StudyTreatment
from heapwright.base.errors import HeapwrightError
from heapwright.base.problems import Keys
from heapwright.study.combinations import Cells, Combination, Combinations, Excluded
from heapwright.study.extent import HINT, Extent
from heapwright.study.fractions import Levels, choose_cells
from heapwright.study.treatments import Filler, Programs, installed


@dataclass(frozen=True, slots=True)
class Machine:
    """What levels are held against."""

    cpus: int
    unusable: Mapping[str, str] = field(default_factory=dict)
    """Allocator, as `allocators_of` gives it → why it cannot be used."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A level that this machine cannot give, or that constraints leave nothing of."""

    factor: str
    level: str
    because: str


@dataclass(frozen=True, slots=True)
class DesignedStudy:
    """A study on a machine."""

    treatments: tuple[StudyTreatment, ...]
    levels: Mapping[str, tuple[Level, ...]]
    """Of each factor, those that are there."""
    baseline: str | None
    dropped: tuple[Dropped, ...]
    excluded: tuple[Excluded, ...]
    counted: bool
    """Whether what is excluded was counted; otherwise it is an estimate."""
    extent: Extent
    notes: tuple[str, ...]
    """How a fraction was chosen, and what else should be known, in sentences."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An allocator that a level needs."""

    keys: Keys
    """Where in the file the level is."""
    allocator: str
    """A name of the registry, a whole path, or name=path; what treatments call it."""
    missing: str
    """The hint if it is unknown; empty: an unknown one is an error."""


def allocators_of(file: StudyFile) -> list[Wanted]:
    """What the levels of the allocators' factor preload."""
    factor = file.study.allocator_factor
    if factor is None:
        return []
    filler = Filler(file)
    return [
        Wanted(("factors", factor, "levels", place), filler.allocator(level), level.missing)
        for place, level in enumerate(file.study.factors[factor].items)
        if level.preload
    ]


def build_design(
    file: StudyFile, machine: Machine, seed: int, programs: Programs = installed
) -> DesignedStudy:
    """The treatments of a study. Raises HeapwrightError if there are none, or far too many."""
    given, dropped = _given(file, machine, programs)
    whole = Combinations(file, given)
    if whole.count == 0:
        raise _empty(file, whole)
    extent = Extent(whole.total, whole.count, whole.exact, whole.count, file.study.design.blocks)
    chosen, said = _chosen(file, given, whole, extent, seed)
    filler = Filler(file, programs)
    treatments = tuple(filler.treatment(_levels_at(given, each)) for each in chosen)
    if len({each.id for each in treatments}) < len(treatments):
        raise file.error(("factors",), "two treatments have the same id by chance: rename a level")
    levels, absent = _present(given, chosen)
    baseline, notes = _baseline(file, levels)
    return DesignedStudy(
        treatments=treatments,
        levels=levels,
        baseline=baseline,
        dropped=(*dropped, *absent),
        excluded=whole.excluded,
        counted=whole.exact,
        extent=replace(extent, treatments=len(chosen), exact=True),
        notes=(*notes, *said),
    )


def _chosen(
    file: StudyFile, levels: Levels, whole: Combinations, extent: Extent, seed: int
) -> tuple[list[Combination], list[str]]:
    """The combinations that are run, and sentences on how they were chosen."""
    if file.study.design.kind == "full":
        extent.check(file)
        if not whole.exact:
            raise file.error(
                ("factors",),
                f"{whole.total:,} combinations are too many to be worked through: {extent}",
                HINT,
            )
        return list(whole.all()), []
    cells = Cells(file, levels, file.study.allocator_factor)
    chosen, said = choose_cells(file, levels, cells, extent, seed)
    allowed = [each for cell in chosen for each in cells.whole(cell) if whole.allowed(each)]
    if not allowed:
        raise file.error(("design",), "the constraints leave nothing of the fraction")
    return allowed, said


def _given(
    file: StudyFile, machine: Machine, programs: Programs
) -> tuple[dict[str, tuple[Level, ...]], list[Dropped]]:
    """The levels that the machine can give, and the others."""
    study = file.study
    filler = Filler(file, programs)
    dropped: list[Dropped] = []
    levels: dict[str, tuple[Level, ...]] = {}
    for name, factor in study.factors.items():
        reasons: dict[str, str] = {}
        for level in factor.items:
            if name == study.cpus_factor and (level.number or 0) > machine.cpus:
                reasons[level.name] = f"there are {machine.cpus} processors here"
            elif name == study.allocator_factor and level.preload:
                why = machine.unusable.get(filler.allocator(level))
                if why is not None:
                    reasons[level.name] = why
            if level.name not in reasons and (lack := filler.lacks(name, level)):
                reasons[level.name] = lack
        dropped += [Dropped(name, level, why) for level, why in reasons.items()]
        levels[name] = tuple(each for each in factor.items if each.name not in reasons)
        if not levels[name]:
            said = "; ".join(f"{level}: {why}" for level, why in reasons.items())
            raise file.error(
                ("factors", name, "levels"),
                f"the design is empty: this machine can give none of the levels of {name}",
                said,
            )
    return levels, dropped


def _present(
    levels: Levels, chosen: Sequence[Combination]
) -> tuple[dict[str, tuple[Level, ...]], list[Dropped]]:
    """The levels that some treatment has, and the others."""
    used = [set(column) for column in zip(*chosen, strict=True)]
    present: dict[str, tuple[Level, ...]] = {}
    absent: list[Dropped] = []
    for (name, each), places in zip(levels.items(), used, strict=True):
        present[name] = tuple(level for place, level in enumerate(each) if place in places)
        absent += [
            Dropped(name, level.name, "the constraints leave out every treatment that has it")
            for place, level in enumerate(each)
            if place not in places
        ]
    return present, absent


def _baseline(
    file: StudyFile, levels: Mapping[str, tuple[Level, ...]]
) -> tuple[str | None, list[str]]:
    """The level that ratios refer to; another one if it was dropped, which is said."""
    wanted = file.study.baseline
    factor = file.study.allocator_factor
    if wanted is None or factor is None:
        return None, []
    names = [level.name for level in levels[factor]]
    if wanted in names:
        return wanted, []
    return names[0], [f"the baseline {wanted} is not there; {names[0]} is in its place"]


def _levels_at(levels: Levels, combination: Combination) -> dict[str, Level]:
    return {
        name: each[place] for (name, each), place in zip(levels.items(), combination, strict=True)
    }


def _empty(file: StudyFile, whole: Combinations) -> HeapwrightError:
    """No treatment is left: whose doing that is."""
    counts = whole.excluded
    worst = max(range(len(counts)), key=lambda place: counts[place].count)
    about = "" if whole.exact else "as far as a sample tells, "
    return file.error(
        ("constraints", worst, "require"),
        f"the design is empty: {about}the constraints leave out all {whole.total:,} treatments",
        "\n".join(f"{each.require}: leaves out {each.count:,}" for each in counts),
    )
