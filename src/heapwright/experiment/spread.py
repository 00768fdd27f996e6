# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A blocked experiment spread over hosts: each host takes whole blocks, one run at a time.

A block is run on one host, so that what distinguishes hosts falls out of a comparison as blocks do.
Where a host is lost in the middle of a block, the rest of it, the run that was going on included,
goes to the next host that has nothing to do; which host made a run is in the run. Order within a
block, repetition, giving up and going on where it was broken off are those of `blocks`.
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
    """What is left of a block: positions and treatments."""

    block: int
    left: deque[tuple[int, Treatment]]


@dataclass(frozen=True, slots=True)
class Event(Generic[Made]):
    """What became of the run that a host was making: it is over, it failed, or the host is gone."""

    host: str
    run: Made | None = None
    error: HeapwrightError | None = None


class Crew(Protocol[Made]):
    """The hosts, whatever connects them."""

    def idle(self) -> Sequence[str]:
        """Hosts that are there and have nothing to do."""

    def begin(self, host: str, assignment: Assignment, attempt: int) -> None:
        """Have an idle host make a run."""

    def wait(self) -> Sequence[Event[Made]]:
        """What has happened; returns after a moment, too, when nothing has.

        Raises HeapwrightError if there is no use in waiting any longer.
        """

    def stop(self) -> None:
        """There are no further runs; those that are being made are of no use."""


class Spread(Blocks):
    """Deals the runs of a plan to hosts; tell it `over` or `lost` of each."""

    def __init__(self, plan: Plan, made: Mapping[tuple[int, Key], Outcome] | None = None) -> None:
        super().__init__(plan, made)
        self._numbers = block_numbers(plan.warmup, plan.blocks)
        self._waiting: deque[Stretch] = deque()
        """Stretches that are nobody's: of lost hosts, and the block after the last begun."""
        self._open: dict[str, Stretch] = {}

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be begun."""
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
        """A host is gone: what it was making, and the rest of its block, is for others."""
        stretch = self._open.pop(host, None) or Stretch(assignment.block, deque())
        stretch.left.appendleft((assignment.position, assignment.treatment))
        self._waiting.appendleft(stretch)

    def release(self, hosts: Sequence[str]) -> None:
        """What is left of the blocks of all but these hosts, which are gone, is for others."""
        for host in [each for each in self._open if each not in hosts]:
            stretch = self._open.pop(host)
            if stretch.left:
                self._waiting.appendleft(stretch)

    def _look_ahead(self) -> bool:
        """Whether something waits, after a look for the next block that is not made already."""
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
        """As for one host, but that as many runs are being made as hosts are busy."""
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
    """The engine's `conduct`, for many hosts: never raises for what a run or a host does.

    Each run is told to `over` exactly once, whatever becomes of its hosts.
    """
    ending = Ending()
    with told_in(ending):
        try:
            _Conducting(schedule, crew, over, begins, ending).run()
        finally:
            crew.stop()
    return ending


class _Conducting(Generic[Made]):
    """Who is making what."""

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
        """Until nothing is left, or all is over that was begun before something said stop."""
        while True:
            if self._stop is None:
                self._deal()
            if not self._flying:
                if self._stop is not None:
                    raise self._stop
                if self._schedule.finished:
                    return
            # What is over is kept before an error ends it all.
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
