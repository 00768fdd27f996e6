# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a search: those of its blocks that its folder does not have yet."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import mean, median

from heapwright.analysis.blocked import value_of
from heapwright.analysis.race.runs import deciding_figure
from heapwright.analysis.tuning.answer import Figures
from heapwright.analysis.tuning.search import Block, Rules, Search, least_runs, usual_runs
from heapwright.analysis.tuning.space import Cell, Measured, Space
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.tuning.folder import SearchFolder
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.experiment.blocks import GIVE_UP_AFTER, TIMEOUT_UNKNOWN_S, Assignment, spent
from heapwright.experiment.comparison import TIMEOUT_FACTOR, TIMEOUT_LEAST_S
from heapwright.experiment.design import block_order
from heapwright.experiment.engine import StopError
from heapwright.experiment.treatments import Treatment

WARMUPS = (-1, 0)
"""Numbers of the warm-up blocks, which run the default alone."""
OVERHEAD_S = 0.03
"""Of a run, for its start and its proof."""
OVER_BUDGET = 1.2
"""A search of slow candidates ends unfinished at this multiple of its budget."""


SHORT_S = 0.02
"""Of a run: in less time, its start is a large part of it."""
IDLE_LOOKS = 3
"""Idle memory is the median of the last looks at a run."""
LEAST_LOOKS = 6
"""A run with fewer looks has no idle memory."""


def figure_in(run: Run, figure: str) -> float | None:
    """A figure of a run; None if it was not measured."""
    if figure != "idle":
        return value_of(run, figure)
    looks = [resident for _, resident in run.rss_series]
    return median(looks[-IDLE_LOOKS:]) if len(looks) >= LEAST_LOOKS else None


@dataclass(slots=True)
class Schedule:
    """The runs to make, for the engine. Call `over` for each before requesting the next."""

    space: Space
    rules: Rules
    objective: str
    budget_s: float | None
    folder: SearchFolder
    treatment: Callable[[Cell], Treatment]
    own_time: bool = False
    """The program reports its own time, which decides."""
    search: Search | None = None
    figures: Figures | None = None
    block: Block | None = None
    _result: Run | None = None
    _bad: int = field(default=0)

    def __iter__(self) -> Iterator[Assignment]:
        warm: list[Run] = []
        for block in WARMUPS:
            yield from self._run(self.space.default, block, 1, warm)
            self._refuse_failed(warm[-1])
        self.figures = self._figures(warm)
        search = self.search = Search(self.space, self.rules, self._most_runs(warm))
        while (wanted := search.wanted()) is not None:
            self.block = wanted
            self._refuse_late()
            runs: list[Run] = []
            cells = {self.space.key(cell): cell for cell in wanted.cells}
            order = block_order(list(cells), seed=self.folder.plan.seed, block=wanted.number)
            for position, key in enumerate(order, 1):
                yield from self._run(cells[key], wanted.number, position, runs)
            search.observe(
                {cells[key]: self._measured(run) for key, run in zip(order, runs, strict=True)}
            )

    def over(self, _assignment: Assignment, run: Run) -> None:
        """Keep a run. Raises HeapwrightError if it cannot be written."""
        self.folder.keep(run)
        self._result = run

    @property
    def runs(self) -> int:
        """Measured runs in the folder."""
        return sum(not run.warmup for run in self.folder.made.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the times of this search doubtful; known after the warm-up."""
        if self.figures is None or self.figures.objective not in {"time", "cpu"}:
            return ()
        took = min(self.folder.made[block, ""].wall_s or 0.0 for block in WARMUPS)
        if took >= SHORT_S:
            return ()
        return (
            f"a run takes only {1000 * took:.2g} ms: a difference may be that of its start, and "
            f"not of its work. Tune a run of at least {1000 * SHORT_S:g} ms",
        )

    def _run(self, cell: Cell, block: int, position: int, runs: list[Run]) -> Iterator[Assignment]:
        """Add the run of a cell to `runs`: that of the folder, or a new one."""
        label = self.space.label(cell)
        if (block, label) not in self.folder.made:
            warmup = block in WARMUPS
            limit = TIMEOUT_UNKNOWN_S if warmup else self._timeout_s()
            yield Assignment(self.treatment(cell), block, position, warmup, limit)
        run = self.folder.made[block, label]
        runs.append(run)
        if cell == self.space.default:
            self._bad = 0 if run.outcome is Outcome.OK else self._bad + 1
            if self._bad == GIVE_UP_AFTER:
                raise StopError("the program fails with the default settings")

    def _timeout_s(self) -> float:
        warm = [self.folder.made[block, ""].wall_s or 0.0 for block in WARMUPS]
        return max(TIMEOUT_LEAST_S, TIMEOUT_FACTOR * max(warm))

    def _figures(self, warm: list[Run]) -> Figures:
        """The figures of the objective and of the cap. Raises HeapwrightError without them."""
        time = "time" if self.own_time else deciding_figure(warm)
        named = {"time": time, "peak": "memory"}
        figure = named.get(self.objective, self.objective)
        if not all(figure_in(run, figure) for run in warm):
            raise HeapwrightError(
                f"the runs have no figure for the objective {self.objective}",
                f"idle memory needs {LEAST_LOOKS} looks at a run, and there is one every 10 ms: "
                "let the program idle before it ends"
                if figure == "idle"
                else "choose another --objective",
                exit_code=ExitCode.NOTHING_COMPARED,
            )
        return Figures(figure, time if figure in {"memory", "idle"} else "memory")

    def _measured(self, run: Run) -> Measured | None:
        assert self.figures is not None
        value = figure_in(run, self.figures.objective)
        if run.outcome is not Outcome.OK or not value:  # of zero there is no ratio
            return None
        return Measured(value, value_of(run, self.figures.other))

    def _most_runs(self, warm: list[Run]) -> int:
        """Runs that the budget allows. Raises HeapwrightError if it is too small."""
        if self.budget_s is None:
            return usual_runs(self.space)
        each = mean(run.wall_s or 0.0 for run in warm) + OVERHEAD_S
        least = least_runs(self.space)
        allowed = int(self.budget_s / each) - len(warm)
        if allowed < least:
            minutes = (least + len(warm)) * each / 60 * 1.05
            raise HeapwrightError(
                f"the budget of {self.budget_s / 60:g} min is too small: a search of "
                f"{len(self.space.factors)} settings makes at least {least} runs of {each:.2g} s",
                f"--budget {max(minutes, 0.1):.2g}, or fewer settings with --setting",
            )
        return allowed

    def _refuse_late(self) -> None:
        if self.budget_s is None or (self.block is not None and self.block.phase == "confirm"):
            return
        used = sum((run.wall_s or 0.0) + OVERHEAD_S for run in self.folder.made.values())
        if used > OVER_BUDGET * self.budget_s:
            raise StopError(spent(self.budget_s))

    @staticmethod
    def _refuse_failed(run: Run) -> None:
        if run.outcome is not Outcome.OK:
            raise HeapwrightError(
                f"nothing can be tuned: with the default settings the run is {run.outcome}",
                run.detail,
                exit_code=ExitCode.NOTHING_COMPARED,
            )
