# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A race while it is run: what the engine asks about it after each block and before the next."""

from collections.abc import Collection, Sequence

from heapwright.analysis.looks import LookPlan
from heapwright.analysis.race.race import Race, Rules
from heapwright.analysis.race.runs import Reading, advance
from heapwright.artefacts.comparison.document import Key
from heapwright.artefacts.run.measured import Run
from heapwright.commands.conclusion import Question
from heapwright.experiment.comparison import Plan

COMPLETE_BLOCKS = 30
"""A race without a budget makes at most the measured runs of as many complete blocks."""


def race_looks(treatments: int, confidence: float) -> LookPlan:
    """The blocks of a race: as many as its runs last for, if one candidate is left at the end."""
    return LookPlan((COMPLETE_BLOCKS * treatments,), None, confidence)


class Racing:
    """Follows the runs of a plan; give `enough` and `left` to the engine."""

    def __init__(self, plan: Plan, question: Question) -> None:
        self._plan = plan
        self._question = question
        self._reading: Reading | None = None
        self._seen = 0
        rest = sorted(each.key for each in plan.treatments if each.key != plan.baseline.key)
        rules = Rules(question.margin, question.looks.confidence)
        self.race = Race((plan.baseline.key, *rest), rules)
        self.runs = 0
        """Measured runs so far."""

    @property
    def most_runs(self) -> int:
        return COMPLETE_BLOCKS * len(self._plan.treatments)

    def enough(self, runs: Sequence[Run], _blocks: int) -> str:
        """Learn from the new runs; why the race is over, or "" if it goes on."""
        if self._reading is None:
            asked = self._question
            figure = asked.figure(runs) or "time"
            self._reading = Reading(figure, asked.cap_bytes, asked.judges_memory)
        new = runs[self._seen :]
        self._seen = len(runs)
        for block in sorted({run.block for run in new}):
            of_block = [run for run in new if run.block == block]
            advance(self.race, of_block, self._reading)
        self.runs = sum(not run.warmup for run in runs)
        if self.race.ending is not None:
            return "the race is decided"
        if not set(self.race.contenders) - {self.race.baseline}:
            return "no candidate is left"
        if self.runs >= self.most_runs:
            return f"as many runs were made as {COMPLETE_BLOCKS} complete blocks have"
        return ""

    def left(self) -> Collection[Key]:
        """The treatments that the next block leaves out."""
        return set(self.race.candidates) - set(self.race.running)
