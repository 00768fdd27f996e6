# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A blocked experiment spread over hosts: each host takes whole blocks, one run at a time.

A block runs on one host, so differences between hosts cancel as differences between blocks do. If a
host is lost within a block, the next idle host takes the rest of the block, with the unfinished
run. Each run names its host. `blocks` defines the order within a block, repetition, giving up, and
continuation after an interruption.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.blocks import Assignment, Blocks, Plan, spent
from heapwright.experiment.design import Key, block_numbers, is_warmup
from heapwright.experiment.engine import Ending, StopError, told_in
from heapwright.experiment.treatments import Treatment

Made = TypeVar("Made", bound=Run)


@dataclass(slots=True)
class Stretch:
    """The rest of a block: positions and treatments."""

    block: int
    left: deque[tuple[int, Treatment]]


@dataclass(frozen=True, slots=True)
class Event(Generic[Made]):
    """The result of a host: a finished run, a failed one, or the loss of the host."""

    host: str
    run: Made | None = None
    error: HeapwrightError | None = None


class Crew(Protocol[Made]):
    """The hosts, independent of their connection."""

    def idle(self) -> Sequence[str]:
        """Connected hosts without a run."""

    def begin(self, host: str, assignment: Assignment, attempt: int) -> None:
        """Send a run to an idle host."""

    def wait(self) -> Sequence[Event[Made]]:
        """New results; returns after a moment even without one.

        Raises HeapwrightError if waiting is useless.
        """

    def stop(self) -> None:
        """Cancel: there are no further runs, and unfinished ones are not needed."""


class Spread(Blocks):
    """Distributes the runs of a plan over hosts. Call `over` or `lost` for each."""

    def __init__(self, plan: Plan, made: Mapping[tuple[int, Key], Outcome] | None = None) -> None:
        super().__init__(plan, made)
        self._numbers = block_numbers(plan.warmup, plan.blocks)
        self._waiting: deque[Stretch] = deque()
        """Stretches without a host: those of lost hosts, and the block after the last started
        one."""
        self._open: dict[str, Stretch] = {}

    @property
    def finished(self) -> bool:
        """Whether all runs have been started."""
        return not any(stretch.left for stretch in self._open.values()) and not self._look_ahead()

    def take(self, host: str) -> Assignment | None:
        """The next run of a host; None if there is nothing left for it.

        Raises StopError if no further run should begin.
        """
        while True:
            stretch = self._open.get(host)
            if stretch is None or not stretch.left:
                self._open.pop(host, None)
                if not self._look_ahead():
                    return None
                stretch = self._open[host] = self._waiting.popleft()
            position, treatment = stretch.left.popleft()
            if any(treatment.key == gone.key for gone in self.given_up):
                continue
            self._begin_run()
            block = stretch.block
            return Assignment(
                treatment, block, position, is_warmup(block), self._limit_of(treatment)
            )

    def lost(self, host: str, assignment: Assignment) -> None:
        """A host is lost. Its unfinished run and the rest of its block go to other hosts."""
        stretch = self._open.pop(host, None) or Stretch(assignment.block, deque())
        stretch.left.appendleft((assignment.position, assignment.treatment))
        self._waiting.appendleft(stretch)

    def release(self, hosts: Sequence[str]) -> None:
        """All hosts but these are lost. The rest of their blocks goes to other hosts."""
        for host in [each for each in self._open if each not in hosts]:
            stretch = self._open.pop(host)
            if stretch.left:
                self._waiting.appendleft(stretch)

    def _look_ahead(self) -> bool:
        """Whether a stretch waits. Looks first for the next block that is not made yet."""
        while not self._waiting:
            block = next(self._numbers, None)
            if block is None:
                return False
            self._begin_block()
            left: deque[tuple[int, Treatment]] = deque()
            for position, treatment in enumerate(self._order(block), 1):
                earlier = self._made.get((block, treatment.key))
                if earlier is None:
                    left.append((position, treatment))
                else:
                    self._judge(treatment, block, earlier)
            if left:
                self._waiting.append(Stretch(block, left))
        return True

    def _begin_run(self) -> None:
        """As for one host, but with one run in progress for each busy host."""
        if self.plan.budget_s is None or not self._runs:
            return
        each = self.spent_s * max(len(self._open), 1) / self._runs
        if self.spent_s + each > self.plan.budget_s:
            raise StopError(spent(self.plan.budget_s))


def conduct_spread(
    schedule: Spread,
    crew: Crew[Made],
    *,
    over: Callable[[Assignment, Made], None],
    begins: Callable[[Assignment], None] = lambda _assignment: None,
) -> Ending:
    """The engine's `conduct`, for many hosts. It never raises for a failure of a run or a host.

    `over` receives each run exactly once, even if hosts are lost.
    """
    ending = Ending()
    with told_in(ending):
        try:
            _Conducting(schedule, crew, over, begins, ending).run()
        finally:
            crew.stop()
    return ending


class _Conducting(Generic[Made]):
    """The run that each host is making."""

    def __init__(
        self,
        schedule: Spread,
        crew: Crew[Made],
        over: Callable[[Assignment, Made], None],
        begins: Callable[[Assignment], None],
        ending: Ending,
    ) -> None:
        self._schedule = schedule
        self._crew = crew
        self._over = over
        self._begins = begins
        self._ending = ending
        self._flying: dict[str, Assignment] = {}
        self._attempts: Counter[tuple[int, Key]] = Counter()
        self._stop: StopError | None = None

    def run(self) -> None:
        """Work until no run is left. After a stop, only finish the started runs."""
        while True:
            if self._stop is None:
                self._deal()
            if not self._flying:
                if self._stop is not None:
                    raise self._stop
                if self._schedule.finished:
                    return
            # Keep finished runs before an error ends the experiment.
            for event in sorted(self._crew.wait(), key=lambda each: each.error is not None):
                self._take(event)

    def _deal(self) -> None:
        idle = self._crew.idle()
        self._schedule.release([*idle, *self._flying])
        try:
            for host in idle:
                assignment = self._schedule.take(host)
                if assignment is None:
                    continue
                self._flying[host] = assignment
                self._attempts[assignment.key] += 1
                self._begins(assignment)
                self._crew.begin(host, assignment, self._attempts[assignment.key])
        except StopError as stop:
            self._stop = stop

    def _take(self, event: Event[Made]) -> None:
        assignment = self._flying.pop(event.host)
        if event.error is not None:
            raise event.error
        if event.run is None:
            self._schedule.lost(event.host, assignment)
            return
        self._ending.runs += 1
        self._over(assignment, event.run)
