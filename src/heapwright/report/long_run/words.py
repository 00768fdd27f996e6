# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The words and figures that the table and the page of a long run have in common."""

from collections.abc import Iterator
from statistics import median

from heapwright.artefacts.long_run.document import Direction, LongRun, Round, SeriesGrowth
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.quantities import several, size

HOUR_S = 3600.0
TOLD = {
    Direction.GROWS: "grows",
    Direction.SHRINKS: "shrinks",
    Direction.LEVEL: "no growth found",
}


def signed(count: float) -> str:
    """An amount of memory with its sign."""
    sign = "-" if count < 0 else "+"
    return f"{sign}{size(round(abs(count)))}"


def rate(found: SeriesGrowth) -> str:
    """For each hour, with its interval."""
    return f"{signed(found.bytes_per_hour)} [{signed(found.low)}, {signed(found.high)}]"


def load_of(run: LongRun) -> str:
    """The load of the server."""
    load = run.plan.load
    words = [f"{run.plan.program.name} under {run.plan.allocator}"]
    if load.vary:
        words.append(f"{load.vary} in turn {', '.join(load.values)}")
    if load.rest_s:
        words.append(f"a rest of {load.rest_s:g} s after each run of the client")
    if not load.client:
        words.append("as it works by itself")
    elif not load.vary and not load.rest_s:
        words.append("the same load all the time")
    return "; ".join(words)


def extent(run: LongRun) -> str:
    """The duration and the amount of data."""
    hours = run.samples[-1].time_s / HOUR_S if run.samples else 0.0
    seen = f"{hours:.3g} of {run.plan.load.hours:g} hours, {several(len(run.samples), 'sample')}"
    runs = several(len(run.rounds), "run")
    return f"{seen}, {runs} of the client" if run.plan.load.client else seen


def ending(run: LongRun) -> Iterator[str]:
    """What was not as it should be about its end."""
    if run.outcome is not Outcome.OK:
        yield f"{run.outcome.value}: {run.detail}"
    if run.interrupted:
        yield "it was interrupted; the figures are those until then"


def drift(run: LongRun) -> Iterator[tuple[str, str, str]]:
    """Of each response: its title, its median in the first and the last quarter."""
    quarter = max(len(run.rounds) // 4, 1)
    if len(run.rounds) < 4 or run.plan.load.vary:
        return
    titles = {each.measure: each for each in run.plan.program.figures}
    for name in run.rounds[0].responses:
        first, last = (
            _middle(part, name) for part in (run.rounds[:quarter], run.rounds[-quarter:])
        )
        if first is None or last is None:
            continue
        known = titles.get(name)
        yield name if known is None else known.title, f"{first:,.4g}", f"{last:,.4g}"


def _middle(rounds: tuple[Round, ...], name: str) -> float | None:
    values = [each.responses[name] for each in rounds if name in each.responses]
    return median(values) if values else None
