# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a race in a comparison: ratios with bounds that allow for stopping, and a summary."""

from collections.abc import Sequence

import numpy as np

from heapwright.analysis.letters import compact_letters
from heapwright.analysis.race.race import Race
from heapwright.analysis.separation import apart
from heapwright.artefacts.comparison.document import (
    Departure,
    Effect,
    Key,
    RaceSummary,
    ResponseSummary,
    label_of,
)


def raced_effects(race: Race, effects: Sequence[Effect]) -> list[Effect]:
    """The effects of the deciding figure as the race has them: medians, and its own bounds."""
    raced = [_raced(race, effect) for effect in effects]
    low = np.log([effect.low or np.finfo(float).tiny for effect in raced])
    high = np.log([effect.high or np.finfo(float).max for effect in raced])
    letters = compact_letters([float(np.log(effect.ratio)) for effect in raced], apart(low, high))
    return [
        effect.model_copy(update={"group": letter})
        for effect, letter in zip(raced, letters, strict=True)
    ]


def _raced(race: Race, effect: Effect) -> Effect:
    if effect.key == race.baseline:
        return effect
    bounds = race.bounds(effect.key, race.baseline)
    ratio = race.ratio(effect.key, race.baseline)
    return effect.model_copy(update={"ratio": ratio, "low": bounds.low, "high": bounds.high})


def raced_summary(race: Race, summary: ResponseSummary) -> ResponseSummary:
    """The summary of the deciding figure."""
    update = {"method": "race", "level": race.rules.confidence, "critical_value": None, "notes": ()}
    return summary.model_copy(update=update)


def race_summary(race: Race) -> RaceSummary:
    """The race as the document holds it."""
    return RaceSummary(
        named=None if race.ending is None else label_of(*race.ending.named),
        contenders=tuple(label_of(*key) for key in race.contenders),
        departures=tuple(
            Departure(
                allocator=each.key[0],
                level=each.key[1],
                block=each.block,
                why=each.why,
                ratio=each.ratio,
                leader=_label(each.leader),
            )
            for each in race.departures
        ),
    )


def _label(key: Key | None) -> str | None:
    return None if key is None else label_of(*key)
