# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Notes on the advice to switch: the gain of a glibc setting alone, and what is unknown."""

from collections.abc import Iterator, Sequence

from heapwright.analysis.ratio_text import Span
from heapwright.artefacts.comparison.document import Effect, Key, Response, TreatmentInfo
from heapwright.artefacts.run.provenance import Kind

UNKNOWN = "longer runs, other inputs, another load, another machine"
WORDS = {"time": "time", "cpu": "processor time", "memory": "memory"}


def switch_notes(
    chosen: TreatmentInfo,
    treatments: Sequence[TreatmentInfo],
    effects: Sequence[Effect],
    response: Response,
) -> tuple[str, ...]:
    """Notes on the switch to `chosen`, which wins `response`.

    The first of `treatments` is the baseline.
    """
    asks = bool(chosen.preload) and _is_plain_glibc(treatments[0])
    settings = [each for each in treatments if _is_setting(each) and each.command == chosen.command]
    gain = _gain(effects, chosen.key, response)
    notes = list(_of_settings(settings, effects, response, gain)) if asks and gain else []
    missing = "settings of glibc alone (-a default has them), " if asks and not settings else ""
    return (*notes, f"not measured: {missing}{UNKNOWN}")


def winning(effects: Sequence[Effect], key: Key, margin: float) -> Response:
    """What a treatment wins that complete blocks chose: time, or else memory."""
    spans = [Span.of(each) for each in effects if (each.key, each.response) == (key, "time")]
    return "time" if any(span.high < 1 - margin for span in spans) else "memory"


def _of_settings(
    settings: Sequence[TreatmentInfo], effects: Sequence[Effect], response: Response, gain: float
) -> Iterator[str]:
    """The share of the gain that the best setting of glibc has."""
    known = [(own, each) for each in settings if (own := _gain(effects, each.key, response))]
    if known:
        own, best = max(known, key=lambda pair: pair[0])
        words = " ".join(f"{name}={value}" for name, value in best.environment.items())
        yield (
            f"glibc with {words} alone: {100 * own:.0f} of the {100 * gain:.0f} % in "
            f"{WORDS.get(response, response)}, without a new library"
        )
    elif settings:
        plural = "" if len(settings) == 1 else "s"
        yield (
            f"no setting of glibc alone surely gains in {WORDS.get(response, response)} "
            f"({len(settings)} setting{plural} tried)"
        )


def _gain(effects: Sequence[Effect], key: Key, response: Response) -> float:
    """How much less than the baseline a treatment needs, as a share; 0 if that is not sure."""
    for effect in effects:
        if (effect.key, effect.response) == (key, response) and Span.of(effect).high < 1:
            return 1 - effect.ratio
    return 0.0


def _is_plain_glibc(info: TreatmentInfo) -> bool:
    return info.kind is Kind.SYSTEM and info.preload is None and not info.environment


def _is_setting(info: TreatmentInfo) -> bool:
    return info.kind is Kind.SYSTEM and info.preload is None and bool(info.environment)
