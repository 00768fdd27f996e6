# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Workers of Dask's that start, carry out their work, are killed, and start again."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.cluster import scheduler as cluster_scheduler
from heapwright.cluster.scheduler import SchedulerPlace, connected
from heapwright.cluster.workers import Answer, Work, WorkerPool

pytest.importorskip("distributed", reason="Dask distributed is not installed (extra cluster)")

PATIENCE_S = 120.0
DEEDS = """
import os, time
def greet(job):
    if os.environ["NAME"] == "wrong": raise ImportError("nothing is installed")
    return f"{os.environ['NAME']} for {job}"
def do(job, order):
    if order == "fail": raise ValueError("no such order")
    while order.startswith("/") and not os.path.exists(order): time.sleep(0.02)
    return f"{os.environ['NAME']} did {order} of {job}"
def leave(): open(os.environ["LEFT"], "a").write(os.environ["NAME"])
"""
SCHEDULER = """
import asyncio
from distributed import Scheduler
async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0") as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(main())
"""
WORKER = "import sys; from heapwright.cluster.worker import serve; serve(sys.argv[1], lambda: None)"


class Camp:
    """A scheduler here, and workers that are processes of their own."""

    def __init__(self, client: Any, folder: Path) -> None:
        self.address = client.scheduler.address
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.heard: list[str] = []
        deeds = __import__("deeds")
        work = Work(deeds.greet, deeds.do, deeds.leave, "job")
        self.refused: list[str] = []
        self.hands = WorkerPool(client, work, self._welcome, self.refused.append)

    def _welcome(self, greeting: str) -> str | None:
        self.heard.append(greeting)
        name = greeting.split(maxsplit=1)[0]
        return None if name == "stranger" else name.rstrip("0123456789")

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "NAME": name,
            "LEFT": str(self.folder / "left"),
            "DASK_TEMPORARY_DIRECTORY": str(self.folder),
            "PYTHONPATH": os.pathsep.join([str(self.folder), *sys.path]),
        }
        process = subprocess.Popen([sys.executable, "-c", WORKER, self.address], env=environment)
        self.processes.append(process)
        return process

    def until(self, met: Callable[[], object]) -> list[Answer]:
        """What is answered until something holds; an hour of nothing is a failure."""
        end = time.monotonic() + PATIENCE_S
        answers: list[Answer] = []
        while not met() and time.monotonic() < end:
            answers += self.hands.wait()
        assert met()
        return answers


@pytest.fixture
def camp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Camp]:
    (tmp_path / "deeds.py").write_text(DEEDS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "deeds", raising=False)
    with connected(SchedulerPlace(listen="127.0.0.1:0", insecure=True)) as meeting:
        assert meeting is not None
        made = Camp(meeting.client, tmp_path)
        try:
            yield made
        finally:
            for process in made.processes:
                process.kill()
                process.wait()
    monkeypatch.delitem(sys.modules, "deeds", raising=False)


def test_a_new_worker_is_greeted_and_runs_its_job(camp: Camp) -> None:
    camp.worker("u")
    camp.worker("stranger")
    camp.until(lambda: len(camp.heard) == 2)
    assert sorted(camp.heard) == ["stranger for job", "u for job"]
    assert camp.hands.hosts == camp.hands.idle == ["u"]
    camp.hands.tell("u", "this")
    assert camp.hands.idle == []
    answers = camp.until(lambda: camp.hands.idle)
    assert answers == [Answer("u", "u did this of job")]
    camp.hands.dismiss("u")
    assert camp.hands.hosts == []
    camp.hands.stop()
    assert "u" in (camp.folder / "left").read_text()


def test_a_killed_worker_is_noticed_and_can_return(camp: Camp) -> None:
    first = camp.worker("u")
    camp.worker("v")
    camp.until(lambda: camp.hands.hosts == ["u", "v"])
    never = str(camp.folder / "never")
    camp.hands.tell("u", never)
    camp.hands.tell("v", "this")
    first.kill()
    answers = camp.until(lambda: camp.hands.hosts == ["v"])
    camp.until(lambda: camp.hands.idle == ["v"])
    assert Answer("u", None) in answers
    camp.worker("u")
    camp.until(lambda: camp.hands.idle == ["u", "v"])
    camp.hands.tell("u", "that")
    answers = camp.until(lambda: camp.hands.idle == ["u", "v"])
    assert answers == [Answer("u", "u did that of job")]


def test_of_several_workers_of_a_host_one_works_and_the_others_stand_by(camp: Camp) -> None:
    processes = {name: camp.worker(name) for name in ("u1", "u2")}
    camp.until(lambda: len(camp.heard) == 2)
    assert camp.hands.idle == ["u"]
    gate = camp.folder / "gate"
    camp.hands.tell("u", str(gate))
    assert camp.hands.idle == []
    gate.touch()
    (answer,) = camp.until(lambda: camp.hands.idle)
    assert answer.text is not None
    busy = answer.text.split()[0]
    camp.hands.tell("u", str(camp.folder / "never"))
    processes[busy].kill()
    (lost,) = camp.until(lambda: camp.hands.idle == ["u"])
    assert lost == Answer("u", None)
    camp.hands.tell("u", "this")
    (answer,) = camp.until(lambda: camp.hands.idle)
    assert answer.text is not None
    assert answer.text.split()[0] != busy


def test_workers_that_are_not_ours_are_left_aside(camp: Camp) -> None:
    camp.worker("wrong")
    camp.until(lambda: camp.refused)
    assert "nothing is installed" in camp.refused[0]
    camp.worker("u")
    camp.until(lambda: camp.hands.idle == ["u"])
    assert len(camp.refused) == 1


def test_a_defect_is_not_taken_for_a_loss(camp: Camp) -> None:
    camp.worker("u")
    camp.until(lambda: camp.hands.hosts == ["u"])
    camp.hands.tell("u", "fail")
    with pytest.raises(HeapwrightError, match="ValueError: no such order"):
        camp.until(lambda: camp.hands.idle)


def test_a_worker_leaves_when_the_scheduler_is_gone(camp: Camp) -> None:
    process = camp.worker("u")
    camp.until(lambda: camp.hands.hosts == ["u"])
    camp.hands._client.cluster.close()  # noqa: SLF001 - as if its machine were gone
    assert process.wait(PATIENCE_S) == 0


def test_a_scheduler_that_is_gone_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deeds.py").write_text(DEEDS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        cluster_scheduler, "CONNECTING_S", 5.0
    )  # and so long it tries to connect again
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE) as scheduler:
        assert scheduler.stdout is not None
        try:
            address = scheduler.stdout.readline().decode().strip()
            with connected(SchedulerPlace(scheduler=address)) as meeting:
                assert meeting is not None
                camp = Camp(meeting.client, tmp_path)
                assert camp.hands.wait() == []
                scheduler.kill()
                with pytest.raises(HeapwrightError, match="connection to the scheduler is lost"):
                    camp.until(lambda: False)
                camp.hands.stop()
        finally:
            scheduler.kill()
