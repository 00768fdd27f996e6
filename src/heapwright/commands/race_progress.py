# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of a race: a live table on a terminal, else a line now and then.

The remaining time is an upper bound. It is the smaller of two: the rest of the budget, and the time
of the remaining runs at the present pace. A race usually ends earlier, at a time that cannot be
predicted.
"""

import math
from time import monotonic

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from heapwright.analysis.race.race import Race
from heapwright.artefacts.comparison.document import Key, label_of
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.commands.progress import LiveDisplay, duration
from heapwright.commands.racing import Racing, is_over
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.comparison import Plan
from heapwright.report.race_text import departure_text


class RaceDisplay(LiveDisplay[Live]):
    """Shows a race. Pass `watch` to the engine."""

    def __init__(
        self, racing: Racing, plan: Plan, *, quiet: bool = False, console: Console | None = None
    ) -> None:
        super().__init__(
            lambda screen: Live(console=screen, transient=True, auto_refresh=False),
            quiet=quiet,
            console=console,
        )
        self._racing = racing
        self._plan = plan
        self._runs = self._bad = 0
        self._where = "warm-up"

    def watch(self, assignment: Assignment, run: Run | None) -> None:
        """Handle the start or the end of a run."""
        self._where = "warm-up" if assignment.warmup else f"block {assignment.block}"
        if run is None:
            return
        self._runs += 1
        self._bad += run.outcome is not Outcome.OK
        if self._drawing is None:
            self._say(self.line)
        elif self._is_due(1.0):
            self._drawing.update(self.table(), refresh=True)

    def line(self) -> str:
        """The state in one line."""
        races = self._racing.races
        contenders = sum(len(race.contenders) for race in races)
        candidates = sum(len(race.candidates) for race in races)
        parts = [self._where, f"{contenders} of {candidates} in the race"]
        if len(races) > 1:
            parts.append(f"{sum(map(is_over, races))} of {len(races)} levels decided")
        elif races[0].blocks:
            parts.append(f"{label_of(*races[0].leader)} leads{_beside_baseline(races[0])}")
        if self._bad:
            parts.append(f"{self._bad} bad")
        spent = monotonic() - self._begun
        return f"{', '.join(parts)}; {duration(spent)} so far{self._remaining(spent)}"

    def table(self) -> Table:
        """The race as a table: estimate and interval of each candidate, or why it left."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), caption_justify="left")
        table.add_column("candidate", overflow="fold")
        table.add_column("to the baseline")
        table.add_column("state", overflow="fold")
        for race in self._racing.races:
            gone = {departure.key: departure for departure in race.departures}
            for key in race.candidates:
                if key in gone:
                    text = departure_text(
                        gone[key].block,
                        gone[key].why,
                        gone[key].ratio,
                        is_baseline=key == race.baseline,
                    )
                    table.add_row(label_of(*key), _ratio(race, key), text, style="dim")
                else:
                    table.add_row(label_of(*key), _ratio(race, key), _state(race, key))
        table.caption = Text(self.line())
        return table

    def _remaining(self, spent: float) -> str:
        """How long the race lasts at most."""
        if not self._runs:
            return ""
        left = (self._racing.most_runs - self._racing.runs) * spent / self._runs
        if self._plan.budget_s is not None:
            left = min(left, self._plan.budget_s - spent)
        return f", at most {duration(left)} left"


def _state(race: Race, key: Key) -> str:
    if key in race.slower:
        return "slower, on the front"
    return "leads" if race.blocks and key == race.leader else ""


def _ratio(race: Race, key: Key) -> str:
    if key == race.baseline:
        return "1"
    ratio = race.ratio(key, race.baseline) if race.blocks else math.nan
    if math.isnan(ratio):
        return "-"
    bounds = race.bounds(key, race.baseline)
    if bounds.low is None or bounds.high is None:
        return f"{ratio:.3f}"
    return f"{ratio:.3f} ({bounds.low:.3f} to {bounds.high:.3f})"


def _beside_baseline(race: Race) -> str:
    if race.leader == race.baseline:
        return ""
    return f" ({100 * (race.ratio(race.leader, race.baseline) - 1):+.0f} %)"
