# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that count instead of timing: instructions and simulated cache misses under cachegrind.

The warm-up runs of the experiment are plain runs. They show the wall time and set the limit for the
counted runs. A measured run is made under the simulator of `experiment.simulation`. Its times and
its memory are those of the simulator, so the run leaves them out.
"""

import re
from dataclasses import replace

from heapwright.artefacts.run.exact_counts import INSTRUCTIONS, L1_MISSES, LL_MISSES
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base.scratch import Scratch
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.design import Key
from heapwright.experiment.hooks import run_hook
from heapwright.experiment.measurement import (
    Conditions,
    Measurement,
    Specs,
    command_of,
    end_of,
    figures_of,
    prove,
)
from heapwright.experiment.outcome import Classified, classify
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import run_once
from heapwright.experiment.simulation import SLOWDOWN, Tool, counts_in, words_under

TOOL: Tool = "cachegrind"
LIMIT_FACTOR = 10.0
"""A counted run may take this multiple of its expected time, and at least `LEAST_LIMIT_S`."""
LEAST_LIMIT_S = 60.0
EVENTS = {
    INSTRUCTIONS: ("Ir",),
    L1_MISSES: ("I1mr", "D1mr", "D1mw"),
    LL_MISSES: ("ILmr", "DLmr", "DLmw"),
}
SEEDS = {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
"""Variables that fix the order of hash tables; a value of the user takes precedence."""
NOT_COUNTED = (
    "wall_s",
    "user_s",
    "sys_s",
    "peak_rss_bytes",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
)
REMEDIES = {
    Outcome.TIMEOUT: "valgrind runs one thread at a time, so threads that spin may never end: "
    "allow more time with --timeout, or compare without --exact",
    Outcome.CRASHED: "the program may use an instruction that valgrind does not know: compare "
    "without --exact",
    Outcome.FAILED: "the plain run ended well, so the program does not work under valgrind: "
    "compare without --exact",
}
OF_VALGRIND = re.compile(r"(--|==)\d+(--|==) ")
"""Begins the lines that valgrind writes among those of the program."""


def split_remedy(detail: str) -> tuple[str, str]:
    """How a run ended and what it said, and what to do about it; empty: no advice."""
    first, _, last = detail.rpartition("\n")
    return (first, last) if last in REMEDIES.values() else (detail, "")


class ExactMeasurement:
    """Makes runs. Pass `execute` to the engine."""

    def __init__(
        self, conditions: Conditions, paths: PreloadPaths, timeout_s: float | None = None
    ) -> None:
        """`timeout_s` limits each run; None: a counted run is limited by its plain run."""
        environment = {**SEEDS, **conditions.environment}
        self._conditions = replace(conditions, environment=environment)
        self._plain = Measurement(self._conditions, paths)
        self._specs = Specs(self._conditions, paths)
        self._timeout_s = timeout_s
        self._plain_s: dict[Key, float] = {}

    def execute(self, assignment: Assignment) -> Run:
        """One run. Raises HeapwrightError if it cannot be made, RunInterrupted on Ctrl-C."""
        if assignment.warmup:
            plain = self._plain.execute(assignment)
            self._plain_s[assignment.treatment.key] = plain.wall_s or 0.0
            return plain
        conditions = self._conditions
        if conditions.prepare is not None:
            run_hook("--prepare", conditions.prepare, conditions.environment, conditions.cwd)
        with Scratch() as folder:
            words = words_under(TOOL, command_of(assignment.treatment, conditions), folder)
            spec = self._specs.of(
                assignment.treatment,
                timeout_s=self._limit_of(assignment.treatment.key),
                words=words,
            )
            raw = run_once(spec)
            proof = prove(raw, assignment.treatment)
            named = classify(raw, proof, frozenset({conditions.expect_exit}))
            measures: dict[str, float] = {}
            if named.outcome is Outcome.OK:
                try:
                    measures = _counts(counts_in(folder))
                except (ValueError, KeyError) as error:
                    named = Classified(Outcome.FAILED, f"nothing was counted: {error}")
        if remedy := REMEDIES.get(named.outcome):
            own = [line for line in named.detail.splitlines() if not OF_VALGRIND.match(line)]
            named = Classified(
                named.outcome, "\n".join((f"under valgrind: {own[0]}", *own[1:], remedy))
            )
        figures = figures_of(raw) | dict.fromkeys(NOT_COUNTED) | {"measures": measures}
        return Run.model_validate({**figures, "counters": {}, **end_of(assignment, named, proof)})

    def _limit_of(self, key: Key) -> float:
        """Seconds that a counted run may take."""
        if self._timeout_s is not None:
            return self._timeout_s
        return max(LEAST_LIMIT_S, LIMIT_FACTOR * SLOWDOWN * self._plain_s.get(key, 0.0))


def _counts(events: dict[str, float]) -> dict[str, float]:
    """The counts by the names of heapwright, from valgrind's events."""
    return {name: sum(events[event] for event in parts) for name, parts in EVENTS.items()}
