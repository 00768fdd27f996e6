# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The levels of a comparison's parameters: candidates compete inside one level.

The treatments of a document have the parameters at the end of their `level`. Inside a level they
are without them, so a level is analysed and shown like a comparison of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heapwright.artefacts.comparison.document import (
    Comparison,
    Effect,
    Key,
    Level,
    TreatmentInfo,
    label_of,
)
from heapwright.artefacts.run.measured import Run

SEPARATOR = ", "


def parameter_text(parameters: Mapping[str, str]) -> str:
    """Such as "threads=2, size=64"; "" without parameters."""
    return SEPARATOR.join(f"{name}={value}" for name, value in parameters.items())


def joined(*pieces: str) -> str:
    """The text of a level from its pieces, without the empty ones."""
    return SEPARATOR.join(filter(None, pieces))


@dataclass(frozen=True, slots=True)
class Part:
    """The treatments and runs of one level, with keys inside the level."""

    parameters: Mapping[str, str]
    treatments: tuple[TreatmentInfo, ...]
    """The baseline first."""
    runs: tuple[Run, ...]
    keys: Mapping[Key, Key]
    """Key in the document to the key inside the level."""


def parts(treatments: Sequence[TreatmentInfo], runs: Sequence[Run]) -> list[Part]:
    """One part for each level, in the order of the treatments."""
    levels: dict[str, list[TreatmentInfo]] = {}
    for info in treatments:
        levels.setdefault(parameter_text(info.parameters), []).append(info)
    return [_part(text, infos, runs) for text, infos in levels.items()]


def views(comparison: Comparison) -> list[tuple[str, Comparison]]:
    """Each level as a comparison of its own, with its name; the whole, if there are no levels."""
    if not comparison.levels:
        return [("", comparison)]
    found = {level_name(each): each for each in comparison.levels}
    return [
        (name, _view(comparison, found[name], part))
        for part in parts(comparison.treatments, comparison.runs)
        if (name := parameter_text(part.parameters)) in found
    ]


def level_name(level: Level) -> str:
    return parameter_text(level.parameters)


def _part(text: str, infos: Sequence[TreatmentInfo], runs: Sequence[Run]) -> Part:
    keys = {info.key: (info.allocator, _bare(info.level, text)) for info in infos}
    inside = tuple(
        info.model_copy(update={"level": keys[info.key][1], "label": label_of(*keys[info.key])})
        for info in infos
    )
    own = tuple(
        run.model_copy(update={"level": keys[key][1]})
        for run in runs
        if (key := (run.allocator, run.level)) in keys
    )
    return Part(infos[0].parameters, inside, own, keys)


def _bare(level: str, parameters: str) -> str:
    """The text of a level without its parameters."""
    return level.removesuffix(parameters).removesuffix(SEPARATOR) if parameters else level


def _view(comparison: Comparison, level: Level, part: Part) -> Comparison:
    design = comparison.design.model_copy(update={"baseline": level.baseline})
    return comparison.model_copy(
        update={
            "design": design,
            "treatments": part.treatments,
            "runs": part.runs,
            "effects": _effects(comparison.effects, part.keys),
            "responses": level.responses,
            "pareto": level.pareto,
            "verdict": level.verdict,
            "race": level.race,
            "levels": (),
        }
    )


def _effects(effects: Sequence[Effect], keys: Mapping[Key, Key]) -> tuple[Effect, ...]:
    return tuple(
        each.model_copy(update={"level": keys[each.key][1]}) for each in effects if each.key in keys
    )
