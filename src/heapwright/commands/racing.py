# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A running race: answers the engine after each block and before the next."""

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
BLOCKS_OF_BUDGET = 300
"""With a budget, the budget is the limit. This limits races of very short commands."""


def most_complete_blocks(budget_s: float | None) -> int:
    """A race makes at most the runs of as many complete blocks."""
    return COMPLETE_BLOCKS if budget_s is None else BLOCKS_OF_BUDGET


def race_looks(treatments: int, confidence: float, budget_s: float | None = None) -> LookPlan:
    """The largest number of blocks, reached if one candidate is left at the end."""
    return LookPlan((most_complete_blocks(budget_s) * treatments,), None, confidence)


class Racing:
    """Follows the runs of a plan. Pass `enough` and `left` to the engine.

    Each level of parameters has a race of its own. All of them share the blocks and the runs.
    """

    def __init__(self, plan: Plan, question: Question) -> None:
        self._plan = plan
        self._question = question
        self._reading: Reading | None = None
        self._seen = 0
        rules = Rules(question.margin, question.looks.confidence)
        self.races = tuple(
            Race((baseline, *sorted(rest)), rules) for baseline, *rest in plan.levels()
        )
        self.runs = 0
        """Measured runs so far."""

    @property
    def most_runs(self) -> int:
        return self._complete_blocks * len(self._plan.treatments)

    @property
    def _complete_blocks(self) -> int:
        return most_complete_blocks(self._plan.budget_s)

    def enough(self, runs: Sequence[Run], _blocks: int) -> str:
        """Learn from the new runs; why the race is over, or "" if it goes on."""
        if self._reading is None:
            asked = self._question
            figure = asked.figure(runs, self._plan.treatments) or "time"
            self._reading = Reading(figure, asked.cap_bytes, asked.judges_memory)
        new = runs[self._seen :]
        self._seen = len(runs)
        for block in sorted({run.block for run in new}):
            for race in self.races:
                keys = set(race.candidates)
                of_block = [
                    run for run in new if run.block == block and (run.allocator, run.level) in keys
                ]
                advance(race, of_block, self._reading)
        self.runs = sum(not run.warmup for run in runs)
        if all(race.ending is not None for race in self.races):
            return "the race is decided" if len(self.races) == 1 else "every level is decided"
        if all(map(is_over, self.races)):
            return "no candidate is left"
        if self.runs >= self.most_runs:
            return f"as many runs were made as {self._complete_blocks} complete blocks have"
        return ""

    def left(self) -> Collection[Key]:
        """The treatments that the next block leaves out."""
        return {
            key
            for race in self.races
            for key in race.candidates
            if key not in race.running or (len(self.races) > 1 and is_over(race))
        }


def is_over(race: Race) -> bool:
    """Whether a race is decided, or has nothing left to decide."""
    return race.ending is not None or set(race.contenders) <= {race.baseline}
