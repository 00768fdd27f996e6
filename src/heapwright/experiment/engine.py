# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The engine: carries out runs one after the other, until the schedule or an event ends it.

One engine serves comparisons, replays, surveys and studies. A schedule defines the runs, their
order and their number. The engine requests the next run when the previous one is over, so a
schedule can learn from results. A function makes each run. The engine reports each finished run to
its owner at once, and the owner keeps it. The result names the event that ended the schedule: an
interruption, a spent budget, or a failed preparation. An unfinished run is not reported.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from heapwright.base.errors import HeapwrightError

Task = TypeVar("Task")
Made = TypeVar("Made")


class StopError(Exception):
    """Raised by a schedule, or by the receiver of a run, to end the schedule; has the reason."""


@dataclass(slots=True)
class Ending:
    """How a schedule ended."""

    runs: int = 0
    stopped_because: str = ""
    """Empty if the schedule was completed."""
    interrupted: bool = False
    failure: HeapwrightError | None = None
    """The error that ended it, if there was one."""


def conduct(
    schedule: Iterable[Task],
    execute: Callable[[Task], Made],
    *,
    over: Callable[[Task, Made], None],
    begins: Callable[[Task], None] = lambda _task: None,
) -> Ending:
    """Make the runs of `schedule`; never raises for what a run or a preparation does.

    `begins` receives each run before it is made, `over` each finished run. A HeapwrightError of
    `execute` is raised if no run is finished, because there is nothing to keep. A later one ends
    the schedule and is in the result.
    """
    ending = Ending()
    with told_in(ending):
        for task in schedule:
            begins(task)
            run = execute(task)
            ending.runs += 1
            over(task, run)
    return ending


@contextmanager
def told_in(ending: Ending) -> Iterator[None]:
    """Record the event that ends the schedule in `ending`. Raise an error that comes before a
    finished run."""
    try:
        yield
    except StopError as stop:
        ending.stopped_because = str(stop)
    except KeyboardInterrupt:
        ending.interrupted = True
        ending.stopped_because = "it was interrupted"
    except HeapwrightError as error:
        if not ending.runs:
            raise
        ending.failure = error
        ending.stopped_because = error.message
