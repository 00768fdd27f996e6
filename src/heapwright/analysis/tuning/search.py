# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The search as a state machine: it names the cells of the next block, and learns from its figures.

    screen    the corners of a fraction, its centre and the default, in two blocks or more
    race      the candidates near the predicted optimum and the default; a slow one leaves early.
              A model of all runs chooses the winner with them, and the cells of further rounds.
              If the settings have finer levels, a last round races those near the winner
    confirm   the winner and the default, in fresh pairs

The next block depends only on the figures so far. An interrupted search therefore continues from
its stored runs as if it had never stopped.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from heapwright.analysis.race.race import Figures, Race
from heapwright.analysis.race.race import Rules as RaceRules
from heapwright.analysis.tuning.confirm import Confirmation, confirmed
from heapwright.analysis.tuning.design import Fraction, fraction_for, screening_cells
from heapwright.analysis.tuning.refine import (
    MOST_CANDIDATES,
    finer_cells,
    first_candidates,
    neighbours,
    simpler,
)
from heapwright.analysis.tuning.screen import ACTIVE_LEVEL, Screen, screened
from heapwright.analysis.tuning.space import Cell, Measured, Space, fewest_settings
from heapwright.analysis.tuning.surface import surface
from heapwright.artefacts.comparison.document import Key

Phase = Literal["screen", "race", "confirm"]
Results = Mapping[Cell, Measured | None]
"""The figures of one block; None: the run failed."""

MOST_ACTIVE = 7
SCREEN_BLOCKS = (2, 6)
"""At least and at most."""
SCREEN_SHARE = 0.45
"""Of all runs, for the screening beyond its first blocks."""
LEAST_DF = 8
"""Degrees of freedom that the error of a screening needs."""
RACE_BLOCKS = (6, 4, 4)
"""Of each round at most."""
FINER_BLOCKS = 6
"""Of the round of finer levels."""
LEAST_RACE = 2
MODEL_RUNS = 4
"""The model of all runs counts at most as much as this number of runs of a cell."""
SURE = 1.64
"""Standard errors above the cap at which a candidate leaves a race."""
RACE_CONFIDENCE = 0.8
"""Of a race inside of the search. The confirmation has the confidence of the answer."""
CONFIRM_LOOKS = (10, 20, 40)
"""Pairs after which the confirmation is judged. The looks share the error rate equally."""
RUNS_PER_CELL = 15
"""Without a budget: runs for each cell of the screening, besides the confirmation."""
TOO_MUCH_SCATTER = 0.15
"""A half-width of the confirmation beyond which a search without an effect decides nothing."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The question: margin of practical equivalence, cap and confidence."""

    margin: float = 0.02
    cap: float | None = None
    """The largest ratio of the other figure to its default; None: any."""
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Block:
    """Cells to run in random order."""

    phase: Phase
    number: int
    """Counts all blocks of the search from 1."""
    cells: tuple[Cell, ...]


@dataclass(slots=True)
class Round:
    """One race. The default is its baseline."""

    race: Race
    cells: dict[tuple[str, str], Cell]
    most: int
    others: dict[Cell, list[float]] = field(default_factory=dict)
    """Log ratios of the other figure to the default."""


def least_runs(space: Space) -> int:
    """Runs of the smallest search that can recommend something."""
    fraction = fraction_for(len(space.factors))
    screen = _least_blocks(space, fraction) * len(_screen_block(space, fraction))
    return screen + LEAST_RACE * 3 + 2 * CONFIRM_LOOKS[0]


def usual_runs(space: Space) -> int:
    """Runs of a search without a budget, at most."""
    cells = len(_screen_block(space, fraction_for(len(space.factors))))
    return max(RUNS_PER_CELL * cells + 2 * CONFIRM_LOOKS[-1], least_runs(space))


class Search:
    """A search of at most `runs` runs. Call `wanted` and `observe` in turn until nothing is
    wanted."""

    def __init__(self, space: Space, rules: Rules, runs: int) -> None:
        if runs < least_runs(space):
            raise ValueError(f"{runs} runs are fewer than {least_runs(space)}")
        self.space = space
        self.rules = rules
        self.most_runs = runs
        self.runs = 0
        self.blocks = 0
        self.phase: Phase | Literal["over"] = "screen"
        self.fraction = fraction_for(len(space.factors))
        self.screen: Screen | None = None
        self.second: Screen | None = None
        """The effects on the other figure."""
        self.active: tuple[int, ...] = ()
        self.rounds: list[Round] = []
        self.winner = space.default
        self.confirmation: Confirmation | None = None
        self.failed: set[Cell] = set()
        self._screened: list[dict[Cell, Measured]] = []
        self._logs: list[dict[Cell, float]] = []
        """Log figures of the screening and of all races, block by block."""
        self._pairs: list[tuple[Measured, Measured]] = []
        self.pairs = 0
        self._was_finer = False
        """The round of finer levels has begun, or there are none."""

    def wanted(self) -> Block | None:
        """The next block; None: the search is over."""
        match self.phase:
            case "screen":
                cells = [c for c in _screen_block(self.space, self.fraction) if self._is_good(c)]
            case "race":
                last = self.rounds[-1]
                cells = [last.cells[key] for key in last.race.running]
            case "confirm":
                cells = [self.space.default, self.winner]
            case _:
                return None
        return Block(self.phase, self.blocks + 1, tuple(cells))

    def observe(self, results: Results) -> None:
        """Learn from the block that was wanted."""
        self.blocks += 1
        self.runs += len(results)
        good = {cell: figures for cell, figures in results.items() if figures is not None}
        self.failed |= {cell for cell in results if cell not in good} - {self.space.default}
        if self.phase != "confirm" and good:
            self._logs.append({cell: math.log(each.objective) for cell, each in good.items()})
        match self.phase:
            case "screen":
                self._observe_screen(good)
            case "race":
                self._observe_race(good)
            case "confirm":
                self._observe_confirm(good)
            case _:
                raise ValueError("the search is over")

    @property
    def least_effect(self) -> float:
        """Log ratio below which an effect is not worth a run."""
        return math.log1p(self.rules.margin) / 2

    @property
    def too_noisy(self) -> bool:
        """Whether the runs of equal settings differ so much that nothing could be shown."""
        return self.screen is not None and self.visible > TOO_MUCH_SCATTER

    @property
    def visible(self) -> float:
        """The smallest gain that the confirmation would show, from the scatter so far."""
        if self.screen is None:
            return math.inf
        return math.expm1(_half_width(self.screen.scatter, CONFIRM_LOOKS[1]))

    def looks_like(self, cell: Cell) -> float | None:
        """The estimated ratio of a cell to the default, by the last race that had it."""
        for each in reversed(self.rounds):
            key = self.space.key(cell)
            if key in each.cells and each.race.blocks:
                ratio = each.race.ratio(key, each.race.baseline)
                return ratio if math.isfinite(ratio) else None
        return None

    def _is_good(self, cell: Cell) -> bool:
        return cell not in self.failed

    # Screening

    def _observe_screen(self, good: Mapping[Cell, Measured]) -> None:
        self._screened.append(dict(good))
        if len(self._screened) < _least_blocks(self.space, self.fraction):
            return
        self.screen = self._screen_of(other=False)
        narrow = all(
            term.high - term.low <= self.rules.margin for term in self.screen.terms if term.factors
        )
        size = len(_screen_block(self.space, self.fraction))
        spent = self.runs + size > SCREEN_SHARE * self.most_runs
        if not narrow and not spent and len(self._screened) < SCREEN_BLOCKS[1]:
            return
        self._begin_races(self.screen)

    def _screen_of(self, *, other: bool) -> Screen:
        blocks = [
            {
                cell: figure
                for cell, each in block.items()
                if (figure := each.other if other else each.objective) is not None
            }
            for block in self._screened
        ]
        return screened(self.space, self.fraction, blocks, self.rules.confidence)

    def _begin_races(self, screen: Screen) -> None:
        space, rules = self.space, self.rules
        least = self.least_effect
        self.active = screen.active(least, MOST_ACTIVE)
        second = self.second = self._screen_of(other=True) if self._has_other() else None
        if second is not None and rules.cap is not None and self.active:
            further = second.active(least, MOST_ACTIVE)
            self.active = tuple(dict.fromkeys((*self.active, *further)))[:MOST_ACTIVE]

        def predicted(cell: Cell) -> float:
            return screen.predicted(space, cell, self.active)

        def allowed(cell: Cell) -> bool:
            if cell in self.failed:
                return False
            if second is None or rules.cap is None:
                return True
            extra = second.predicted(space, cell, self.active) - second.predicted(
                space, space.default, self.active
            )
            return extra <= math.log(rules.cap) + least

        cells = first_candidates(space, self.active, predicted, allowed) if self.active else []
        cells = list(dict.fromkeys([*cells[:MOST_CANDIDATES], *self._seen_better(least)]))
        self._race(cells)

    def _has_other(self) -> bool:
        return all(each.other is not None for block in self._screened for each in block.values())

    def _seen_better(self, least: float) -> list[Cell]:
        """The cell of the screening that looked best beside the default, if it looked better."""
        ratios: dict[Cell, list[float]] = {}
        default = self.space.default
        for block in self._screened:
            if default not in block:
                continue
            for cell, figures in block.items():
                if cell != default and self._is_good(cell) and self._under_cap(cell):
                    ratio = math.log(figures.objective / block[default].objective)
                    ratios.setdefault(cell, []).append(ratio)
        if not ratios:
            return []
        best = min(ratios, key=lambda cell: median(ratios[cell]))
        return [best] if median(ratios[best]) < -least else []

    def _under_cap(self, cell: Cell) -> bool:
        ratios = [
            block[cell].other / default.other  # type: ignore[operator]
            for block in self._screened
            if (default := block.get(self.space.default)) is not None
            and cell in block
            and default.other
            and block[cell].other
        ]
        return self.rules.cap is None or not ratios or median(ratios) <= self.rules.cap

    # Races

    def _race(self, cells: list[Cell]) -> None:
        """Begin the next round on the grid, or confirm if there is none."""
        if len(self.rounds) == len(RACE_BLOCKS) or not self._begin_round(
            cells, RACE_BLOCKS[len(self.rounds)]
        ):
            self._begin_confirmation()

    def _begin_round(self, cells: list[Cell], blocks: int, least: int = 1) -> bool:
        """Begin a round with as many candidates as the runs that are left allow. Whether these are
        at least this number."""
        left = self.most_runs - self.runs - 2 * CONFIRM_LOOKS[0]
        cells = [cell for cell in cells if self._is_good(cell)][: max(left // LEAST_RACE - 1, 0)]
        if len(cells) < least:
            return False
        keys = {self.space.key(cell): cell for cell in (self.space.default, *cells)}
        rules = RaceRules(self.rules.margin / 2, RACE_CONFIDENCE)
        self.rounds.append(Round(Race(tuple(keys), rules), keys, blocks))
        self.phase = "race"
        return True

    def _observe_race(self, good: Mapping[Cell, Measured]) -> None:
        this = self.rounds[-1]
        race = this.race
        block = race.blocks + 1
        for key in race.running:
            if this.cells[key] not in good:
                race.fail(key, block)
        baseline = good.get(self.space.default)
        for cell, figures in good.items():
            if baseline is not None and baseline.other and figures.other:
                ratios = this.others.setdefault(cell, [])
                ratios.append(math.log(figures.other / baseline.other))
                if self._is_surely_over(ratios):
                    race.fail(self.space.key(cell), block, "over the cap")
        if good:
            figures_of = {self.space.key(c): Figures(each.objective) for c, each in good.items()}
            race.observe(block, figures_of)
        left = self.most_runs - self.runs - 2 * CONFIRM_LOOKS[0]
        alone = set(race.contenders) <= {race.baseline} or len(race.contenders) == 1
        if race.ending is None and not alone and block < this.most and len(race.running) <= left:
            return
        self._end_round(this)

    def _end_round(self, this: Round) -> None:
        before = self.winner
        self.winner = self._best_of(this)
        if self._was_finer or self.winner == self.space.default:
            self._begin_confirmation()
            return
        raced = {cell for each in self.rounds for cell in each.cells.values()}
        predicted = self._model()
        near = neighbours(self.space, self.winner, self.active, raced)
        fewer = simpler(self.space, self.winner, predicted, self.least_effect)
        fewer = [cell for cell in fewer if cell not in raced]
        if not fewer and (self.winner == before or not near):
            self._begin_confirmation()
            return
        near += [
            cell
            for cell in first_candidates(self.space, self.active, predicted, self._is_good)
            if cell not in raced and cell not in near
        ]
        near = sorted((cell for cell in near if cell not in fewer), key=predicted)
        fewest = fewer[-MOST_CANDIDATES // 4 :]
        self._race([self.winner, *fewest, *near[: MOST_CANDIDATES // 2]])

    def _best_of(self, this: Round) -> Cell:
        """The contender that looks best. Among those as good, the one with the fewest settings."""
        race = this.race
        contenders = [
            key
            for key in race.contenders
            if self._is_good(this.cells[key]) and not self._seems_over(this, this.cells[key])
        ]
        if not contenders or not race.blocks:
            return self.space.default
        logs = self._pooled(race, {key: this.cells[key] for key in contenders})
        best = min(logs.values()) + self.least_effect
        close = sorted((cell for cell in logs if logs[cell] <= best), key=lambda cell: logs[cell])
        return fewest_settings(self.space, close)

    def _is_surely_over(self, ratios: list[float]) -> bool:
        """Whether log ratios of the other figure exceed the cap by more than their scatter."""
        if self.rules.cap is None:
            return False
        scatter = self.second.scatter if self.second else 0.0
        allowance = SURE * scatter * math.sqrt(2 / len(ratios))
        return median(ratios) - allowance > math.log(self.rules.cap)

    def _seems_over(self, this: Round, cell: Cell) -> bool:
        """Whether the other figure is above the cap, or so near that the confirmation would not
        show it to be under the cap. By its runs and the screening together."""
        ratios = this.others.get(cell)
        if self.rules.cap is None or self.second is None or not ratios:
            return False
        default = self.second.predicted(self.space, self.space.default, self.active)
        predicted = self.second.predicted(self.space, cell, self.active) - default
        total = len(ratios) * median(ratios) + MODEL_RUNS * predicted
        needed = self.second.scatter * math.sqrt(2 / CONFIRM_LOOKS[-1])
        return total / (len(ratios) + MODEL_RUNS) + needed > math.log(self.rules.cap)

    def _pooled(self, race: Race, cells: Mapping[Key, Cell]) -> dict[Cell, float]:
        """Log ratios of candidates to the default, by their own runs and by the model.

        Each counts by its precision. The distance of the model from the runs of all candidates,
        beyond their scatter, is its error.
        """
        model = self._model()
        predicted = {cell: model(cell) for cell in cells.values()}
        ratios = {cell: race.ratio(key, race.baseline) for key, cell in cells.items()}
        own = {c: math.log(r) if math.isfinite(r) else predicted[c] for c, r in ratios.items()}
        run = 2 * (self.screen.scatter if self.screen else 0.0) ** 2
        noise = run / race.blocks
        distance = sum((own[c] - predicted[c]) ** 2 for c in own) / len(own)
        error = max(distance - noise, run / MODEL_RUNS)
        share = error / (error + noise) if error + noise else 1.0
        return {cell: share * own[cell] + (1 - share) * predicted[cell] for cell in own}

    def _model(self) -> Callable[[Cell], float]:
        """The model of all runs so far."""
        assert self.screen is not None
        pairs = [
            self.screen.believed(term)
            for term in self.screen.terms
            if term.pairs and term.p < ACTIVE_LEVEL
        ]
        return surface(self.space, self.active, pairs, self._logs)

    # Confirmation

    def _begin_confirmation(self) -> None:
        """Confirm the winner, after a race of finer levels near it if there are some."""
        if self.winner == self.space.default:
            self.phase = "over"
            return
        finer = [] if self._was_finer else finer_cells(self.space, self.winner, self.active)
        self._was_finer = True
        if not finer or not self._begin_round([self.winner, *finer], FINER_BLOCKS, least=2):
            self.phase = "confirm"

    def _observe_confirm(self, good: Mapping[Cell, Measured]) -> None:
        """Add a pair, and judge at the looks. The pairs are not used for anything else."""
        self.pairs += 1
        if self.winner in good and self.space.default in good:
            self._pairs.append((good[self.space.default], good[self.winner]))
        failed = not self._is_good(self.winner)
        last = self.pairs == CONFIRM_LOOKS[-1] or self.runs + 2 > self.most_runs
        if not failed and not last and self.pairs not in CONFIRM_LOOKS:
            return
        rules = self.rules
        self.confirmation = confirmed(
            self._pairs,
            failed=failed,
            margin=rules.margin,
            cap=rules.cap,
            confidence=1 - (1 - rules.confidence) / len(CONFIRM_LOOKS),
        )
        if failed or last or self.confirmation.is_final:
            self.phase = "over"


def _screen_block(space: Space, fraction: Fraction) -> list[Cell]:
    return list(dict.fromkeys([space.default, space.centre, *screening_cells(space, fraction)]))


def _least_blocks(space: Space, fraction: Fraction) -> int:
    """Blocks that leave enough degrees of freedom for the error."""
    cells = set(screening_cells(space, fraction)) | {space.centre}
    terms = len(fraction.masks) + len(fraction.chains) + (len(cells) > fraction.runs)
    blocks = SCREEN_BLOCKS[0]
    while blocks * len(cells) - blocks - terms < LEAST_DF:
        blocks += 1
    return blocks


def _half_width(scatter: float, pairs: int) -> float:
    """About the half-width of the interval of this number of pairs, as a log ratio."""
    return 2.3 * scatter * math.sqrt(2 / pairs)
