# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one job at a time on each host, over Dask distributed, and notices hosts that join or leave.

Dask's own balancing and retrying are not used: a run is bound to one worker of one host. The host
is part of the experiment, and an automatic repetition would count a run twice. The scheduler
notices the end of a worker. The worker's item is then lost, whether or not it was over, and the
caller must give it to another worker. A late answer of an abandoned worker is ignored.

A new worker is greeted first: what it answers says which host it is on. Of several workers of a
host one works and the others stand by.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from time import sleep
from typing import Any, Protocol

from heapwright.base.errors import HeapwrightError
from heapwright.cluster.dask_package import distributed

TICK_S = 0.5
"""How long is waited for an answer before the workers are counted again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a host to a job. None: the host is gone."""

    host: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Work:
    """What is done on the hosts: functions of modules that are installed there."""

    greet: Callable[[str], str]
    """Given the job, returns the identity of the host."""
    do: Callable[[str, str], str]
    """Given the job and an order, does it."""
    leave: Callable[[], None]
    """There are no further orders."""
    job: str


class Welcome(Protocol):
    """Hears the answer to a greeting."""

    def __call__(self, greeting: str, /) -> str | None:
        """The name of the host; None if it is of no use."""


@dataclass(slots=True)
class _Worker:
    host: str | None = None
    """None: not greeted yet, or of no use."""
    future: Any = None
    """What it is doing; of Dask, which has no type for it that is worth having."""


class WorkerPool:
    """The workers of one scheduler."""

    def __init__(
        self, client: Any, work: Work, welcome: Welcome, refused: Callable[[str], None]
    ) -> None:
        """`client` is Dask's; the caller closes it. `refused` is called for each unusable host."""
        self._client = client
        self._work = work
        self._welcome = welcome
        self._refused = refused
        self._workers: dict[str, _Worker] = {}
        self._session = uuid.uuid4().hex[:12]
        self._numbers = count()

    @property
    def hosts(self) -> list[str]:
        """Those that are there, busy or not."""
        return sorted({each.host for each in self._workers.values() if each.host is not None})

    @property
    def idle(self) -> list[str]:
        """Those none of whose workers does anything."""
        busy = {each.host for each in self._workers.values() if each.future is not None}
        return [host for host in self.hosts if host not in busy]

    def tell(self, host: str, order: str) -> None:
        """Have an idle host do something."""
        address = min(a for a, each in self._workers.items() if each.host == host)
        future = self._submit(address, self._work.do, self._work.job, order)
        self._workers[address].future = future

    def dismiss(self, host: str) -> None:
        """Use a host no more; a worker that comes anew from there is greeted all the same."""
        for each in self._workers.values():
            if each.host == host:
                each.host = None

    def wait(self) -> Sequence[Answer]:
        """The answers that have come; returns after TICK_S if there are none.

        Raises HeapwrightError if the scheduler is gone, or if a host met with a defect.
        """
        going = [each.future for each in self._workers.values() if each.future is not None]
        try:
            if going:
                with self._client.as_current():
                    distributed().wait(going, timeout=TICK_S, return_when="FIRST_COMPLETED")
            else:
                sleep(TICK_S)
        except TimeoutError:
            pass
        except OSError as error:
            raise self._gone() from error
        return [*self._answers(), *self._look()]

    def stop(self) -> None:
        """End the session on all hosts, without a wait for busy ones."""
        free = [address for address, each in self._workers.items() if each.future is None]
        for each in self._workers.values():
            if each.future is not None:
                each.future.cancel()
        if free and self._client.status == "running":
            self._client.run(self._work.leave, workers=free, on_error="ignore")
        self._workers.clear()

    def _submit(self, address: str, function: Callable[..., str], *arguments: str) -> Any:
        key = f"heapwright-{self._session}-{next(self._numbers)}"
        return self._client.submit(
            function,
            *arguments,
            key=key,
            workers=[address],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )

    def _answers(self) -> list[Answer]:
        """The answers to finished jobs, without those to greetings."""
        found = []
        for address, each in list(self._workers.items()):
            if each.future is None or not each.future.done():
                continue
            try:
                if each.host is None:
                    self._greeted(address, each)
                    continue
                text = self._text(address, each.future)
            except TimeoutError:
                continue  # the worker has not handed it over, and may be gone
            each.future = None
            found.append(Answer(each.host, text))
            if text is None:
                del self._workers[address]
        return found

    def _text(self, address: str, future: Any) -> str | None:
        """What came of it; None if the worker went away over it."""
        if future.status == "finished":
            return str(future.result(timeout=TICK_S))
        if future.status != "error":
            return None
        error = future.exception(timeout=TICK_S)
        if isinstance(error, distributed().KilledWorker):
            return None
        raise HeapwrightError(
            f"the worker at {address} met with {type(error).__name__}: {error}",
            "it is of another version, or this is a defect; what was measured before is kept",
        )

    def _greeted(self, address: str, worker: _Worker) -> None:
        """Take a worker, or ignore it: a scheduler may have workers of other users."""
        try:
            text = self._text(address, worker.future)
        except HeapwrightError as error:
            self._refused(error.message)
        else:
            if text is None:
                del self._workers[address]
                return
            worker.host = self._welcome(text)
        worker.future = None

    def _look(self) -> list[Answer]:
        """Greet new workers, and forget those that left."""
        try:
            there = set(self._client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, TimeoutError, KeyError) as error:  # no answer from it
            raise self._gone() from error
        lost = []
        for address in self._workers.keys() - there:
            gone = self._workers.pop(address)
            if gone.future is not None:
                gone.future.cancel()
                if gone.host is not None:
                    lost.append(Answer(gone.host, None))
        for address in there - self._workers.keys():
            self._workers[address] = _Worker(
                future=self._submit(address, self._work.greet, self._work.job)
            )
        return lost

    def _gone(self) -> HeapwrightError:
        return HeapwrightError(
            "the connection to the scheduler is lost",
            "what was measured is kept: `heapwright study resume` goes on with it",
        )
