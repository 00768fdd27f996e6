# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Computes the agreement of rankings from the runs of a program and of its loads.

Allocators without two good runs under each load are not ranked; the others are. With fewer than two
left there is no ranking. A note in the document states this.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean

from heapwright.analysis.agreement import agreement, over_programs, same_best, with_itself
from heapwright.artefacts.agreement.document import (
    LOADS,
    AgreementOf,
    Load,
    Measured,
    Overall,
    ProgramAgreement,
    What,
)
from heapwright.artefacts.comparison.document import Key, label_of
from heapwright.artefacts.run.measured import Outcome, Run

WHATS: tuple[What, ...] = ("time", "memory")
LEAST_RUNS = 2
Figures = Mapping[Load, Mapping[Key, Sequence[float]]]


def ranked(
    name: str,
    events: int,
    keys: Sequence[Key],
    runs: Mapping[Load, Sequence[Run]],
    confidence: float,
    seed: int,
) -> ProgramAgreement:
    """The agreements of one program."""
    figures = {what: _figures(what, keys, runs) for what in WHATS}
    agreements: list[AgreementOf] = []
    left: set[str] = set()
    for what in WHATS:
        good = [key for key in keys if _is_ranked(figures[what], key)]
        left |= {label_of(*key) for key in keys if key not in good}
        if len(good) >= 2:
            agreements += _agreements(what, good, figures[what], confidence, seed)
    why = f"not ranked, for want of good runs: {', '.join(sorted(left))}" if left else ""
    return ProgramAgreement(
        program=name,
        events=events,
        measured=tuple(_measured(key, load, figures) for load in LOADS for key in keys),
        agreements=tuple(agreements),
        why=why,
    )


def overall(programs: Sequence[ProgramAgreement], confidence: float) -> tuple[Overall, ...]:
    """Means over the programs that have a tau."""
    found = []
    for what in WHATS:
        for load in LOADS:
            each = [one for program in programs if (one := program.of(what, load)) is not None]
            taus = [one.tau.tau for one in each if one.tau.tau is not None]
            if taus:
                found.append(
                    Overall(
                        what=what,
                        load=load,
                        programs=len(taus),
                        tau=over_programs(taus, confidence),
                        same_best=sum(bool(one.same_best) for one in each),
                    )
                )
    return tuple(found)


def _agreements(
    what: What, good: Sequence[Key], figures: Figures, confidence: float, seed: int
) -> Sequence[AgreementOf]:
    blocks = {load: [figures[load][key] for key in good] for load in LOADS}
    program = blocks["program"]
    itself = AgreementOf(what=what, load="program", tau=with_itself(program, confidence, seed))
    loads: tuple[Load, ...] = ("replay", "synthetic")
    return [
        itself,
        *(
            AgreementOf(
                what=what,
                load=load,
                tau=agreement(program, blocks[load], confidence, seed),
                same_best=same_best(program, blocks[load]),
            )
            for load in loads
        ),
    ]


def _is_ranked(figures: Figures, key: Key) -> bool:
    return all(len(figures[load][key]) >= LEAST_RUNS for load in LOADS)


def _figures(what: What, keys: Sequence[Key], runs: Mapping[Load, Sequence[Run]]) -> Figures:
    return {load: {key: [*_values(what, key, runs[load])] for key in keys} for load in LOADS}


def _values(what: What, key: Key, runs: Sequence[Run]) -> Iterator[float]:
    for run in runs:
        if run.outcome is Outcome.OK and not run.warmup and (run.allocator, run.level) == key:
            value = run.wall_s if what == "time" else run.peak_rss_bytes
            if value:
                yield float(value)


def _measured(key: Key, load: Load, figures: Mapping[What, Figures]) -> Measured:
    times, memories = (figures[what][load][key] for what in WHATS)
    return Measured(
        allocator=label_of(*key),
        load=load,
        runs=len(times),
        seconds=geometric_mean(times) if times else None,
        peak_bytes=geometric_mean(memories) if memories else None,
    )
