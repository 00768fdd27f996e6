# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The engine: carries out runs one after the other, until there are none left or something ends it.

There is one engine, for comparisons, replays, surveys and studies. What is run, in what order and
how often is a schedule, which the engine asks for the next run when the one before is over, so that
a schedule may learn from what happened. How one run is made is given as a function. Every run is
told to the schedule's owner the moment it is over, who keeps it. Whatever ends the running (an
interruption, a spent budget, a preparation that fails) is in what comes back; a run that was not
over is told to nobody.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from heapwright.base.errors import HeapwrightError

Task = TypeVar("Task")
Made = TypeVar("Made")


class StopError(Exception):
    """Raised by a schedule, or by who is told of a run, to end the running; says why."""


@dataclass(slots=True)
class Ending:
    """How the running came to its end."""

    runs: int = 0
    stopped_because: str = ""
    """Empty if the schedule came to its end."""
    interrupted: bool = False
    failure: HeapwrightError | None = None
    """What kept it from going on, if it was an error."""


def conduct(
    schedule: Iterable[Task],
    execute: Callable[[Task], Made],
    *,
    over: Callable[[Task, Made], None],
    begins: Callable[[Task], None] = lambda _task: None,
) -> Ending:
    """Make the runs of `schedule`; never raises for what a run or a preparation does.

    `begins` is told of each run before it is made, `over` when it is. A HeapwrightError of
    `execute` before the first run is over is raised, because then there is nothing to keep; a later
    one ends the running and is in the result.
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
    """What ends the running from within is told in the ending; an error before a run is raised."""
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
