# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study on several hosts, which are processes here: one is killed in the middle and comes again.

The program under test waits for tickets, so that the tests decide when runs end, and no time does.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapwright.artefacts.study_results.reader import open_results

pytest.importorskip("distributed", reason="Dask distributed is not installed (extra cluster)")
pytestmark = pytest.mark.usefixtures("native")

PATIENCE_S = 180.0
PROGRAM = """#!/bin/sh
# Marks that it began, and waits until it may go on: with a ticket, of which each is for one.
cd "$(dirname "$0")"
echo $$ >> begun
while [ ! -e go ]; do
    for ticket in tickets/*; do
        rm "$ticket" 2>/dev/null && exit 0
    done
    sleep 0.05
done
"""
STUDY = """
format = 1
name = "spread"
title = "a study on several hosts"
command = ["{folder}/program", "{size}"]
[factors.allocator]
levels = ["glibc", "kingsley"]
[factors.size]
levels = [1, 2]
[design]
blocks = 12
discard = 1
seed = 7
[responses.time]
from = "wall"
"""
PLANNED = 4 * 12


class Camp:
    """The processes of a test, all of them this machine's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.go = folder / "go"
        self.said = folder / "said"
        self.processes: list[subprocess.Popen[bytes]] = []
        (folder / "tickets").mkdir()
        (folder / "begun").touch()
        (folder / "program").write_text(PROGRAM, encoding="utf-8")
        (folder / "program").chmod(0o755)
        (folder / "spread.toml").write_text(STUDY, encoding="utf-8")

    def start(self, *words: str, host: str = "", append: bool = False) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "HEAPWRIGHT_HOST": host,
            "TMPDIR": str(self.folder),
            "XDG_STATE_HOME": str(self.folder),
            "HEAPWRIGHT_HOME": str(self.folder / "home"),
        }
        words = (sys.executable, "-m", "heapwright", "study", *words)
        if not append:
            self.said.write_bytes(b"")
        with self.said.open("ab") as said:
            process = subprocess.Popen(words, cwd=self.folder, env=environment, stderr=said)
        self.processes.append(process)
        return process

    def lead(self, *words: str) -> subprocess.Popen[bytes]:
        return self.start(*words, "--listen", "127.0.0.1:0")

    @property
    def invitation(self) -> list[str]:
        """What follows `heapwright study` in the command that the leading process prints."""
        self.until(lambda: re.search("heapwright study worker .*\n", self.text))
        return shlex.split(self.text.partition("heapwright study ")[2].splitlines()[0])

    def worker(self, host: str) -> subprocess.Popen[bytes]:
        return self.start(*self.invitation, host=host, append=True)

    @property
    def text(self) -> str:
        return self.said.read_text(encoding="utf-8")

    def until(self, met: Callable[[], object]) -> None:
        """Wait for something; an hour of nothing is a failure, with what was said."""
        end = time.monotonic() + PATIENCE_S
        while not met():
            assert time.monotonic() < end, self.text
            assert any(each.poll() is None for each in self.processes), self.text
            time.sleep(0.05)

    def runs(self) -> int:
        """How many are in the folder."""
        file = self.folder / "results" / "runs.jsonl"
        return max(len(file.read_text().splitlines()) - 1, 0) if file.exists() else 0

    def begun(self) -> int:
        return len((self.folder / "begun").read_text().splitlines())

    def alive(self) -> int:
        """How many of the programs that began are there."""
        numbers = (self.folder / "begun").read_text().split()
        return sum(Path(f"/proc/{number}").exists() for number in numbers)

    def grant(self, runs: int) -> None:
        """Lets a number of runs end, and waits until they have."""
        for _ in range(runs):
            made, begun = self.runs(), self.begun()
            (self.folder / "tickets" / str(made)).touch()
            self.until(lambda: self.runs() == made + 1 and self.begun() == begun + 1)  # noqa: B023

    def ended(self, process: subprocess.Popen[bytes]) -> int:
        return process.wait(PATIENCE_S)


@pytest.fixture
def camp(tmp_path: Path) -> Iterator[Camp]:
    made = Camp(tmp_path)
    try:
        yield made
    finally:
        made.go.touch()
        for process in made.processes:
            process.kill()
            process.wait()


def judge_whole(camp: Camp) -> dict[str, int]:
    """Every run once; how many each host made."""
    frame = open_results(camp.folder / "results").frame()
    keys = Counter(frame.select("block", "treatment").rows())
    assert len(keys) == len(frame) == PLANNED
    assert set(frame["outcome"]) == {"ok"}
    return dict(Counter(frame["host"].to_list()))


def test_a_worker_is_killed_in_the_middle_and_comes_again(camp: Camp) -> None:
    lead = camp.lead("run", "spread.toml", "-o", "results")
    first = camp.worker("a")
    camp.worker("b")
    camp.until(lambda: camp.begun() == 2)
    camp.grant(7)  # and now both are in the middle of a run
    first.send_signal(signal.SIGKILL)
    camp.until(lambda: "a is lost" in camp.text)
    camp.until(lambda: camp.alive() == 1)  # what it was running does not stay behind
    camp.worker("a")
    camp.until(lambda: camp.text.count("a takes part") == 2)
    camp.go.touch()
    assert camp.ended(lead) == 0, camp.text
    hosts = judge_whole(camp)
    assert set(hosts) == {"a", "b"}
    results = open_results(camp.folder / "results")
    again = [run for run in results.runs() if run.attempt == 2]
    assert len(again) == 1
    assert set(results.environments) == {"a", "b"}
    # blocks are of one host each, but for that of the lost one
    owners = Counter(block for block, _ in set(results.frame().select("block", "host").rows()))
    assert sum(count > 1 for count in owners.values()) <= 1
    for process in camp.processes:
        camp.ended(process)
    names = [path.name for path in camp.folder.iterdir()]  # where temporary files are, too
    assert not [name for name in names if name.startswith(("heapwright.", "dask"))]


def test_a_worker_says_what_it_does(camp: Camp) -> None:
    camp.go.touch()
    lead = camp.lead("run", "spread.toml", "-o", "results", "-q")
    camp.until(lambda: list(camp.folder.glob("heapwright.*/certificate.pem")))
    assert camp.ended(camp.start("worker", "foo", append=True)) == 2
    assert "'foo' is no address of a scheduler" in camp.text
    assert "Traceback" not in camp.text
    lead.send_signal(signal.SIGINT)
    camp.ended(lead)
    lead = camp.lead("run", "spread.toml", "-o", "more")
    worker = camp.worker("a")
    assert camp.ended(lead) == 0, camp.text
    assert camp.ended(worker) == 0, camp.text
    for words in (
        "looking for the scheduler at tls://",
        "connected to tls://",
        "running block 1: ",
    ):
        assert words in camp.text
    assert f"done: {PLANNED} runs were made here" in camp.text


def test_a_worker_needs_the_certificate_of_the_study(camp: Camp) -> None:
    lead = camp.lead("run", "spread.toml", "-o", "results")
    _, address, _, certificate = camp.invitation
    assert address.startswith("tls://127.0.0.1:")
    assert Path(certificate).stat().st_mode & 0o077 == 0
    assert camp.ended(camp.start("worker", address, append=True)) == 2
    assert "needs the certificate of the study" in camp.text
    assert camp.runs() == camp.begun() == 0
    camp.go.touch()
    camp.worker("a")
    assert camp.ended(lead) == 0, camp.text
    assert not Path(certificate).exists()


def test_plain_connections_must_be_asked_for(camp: Camp) -> None:
    camp.go.touch()
    lead = camp.lead("run", "spread.toml", "-o", "results", "--insecure")
    assert camp.invitation[1].startswith("tcp://")
    assert len(camp.invitation) == 2
    camp.worker("a")
    assert camp.ended(lead) == 0, camp.text


def test_the_leading_process_is_killed_and_the_study_resumed(camp: Camp) -> None:
    lead = camp.lead("run", "spread.toml", "-o", "results")
    worker = camp.worker("a")
    camp.until(lambda: camp.begun() == 1)
    camp.grant(6)
    lead.send_signal(signal.SIGKILL)
    lead.wait()
    assert camp.runs() == 6
    before = (camp.folder / "results" / "runs.jsonl").read_text()
    camp.go.touch()
    assert camp.ended(worker) == 0
    again = camp.lead("resume", "results")
    camp.worker("b")
    assert camp.ended(again) == 0, camp.text
    hosts = judge_whole(camp)
    assert set(hosts) == {"a", "b"}
    after = (camp.folder / "results" / "runs.jsonl").read_text()
    assert after.startswith(before)


def test_a_host_that_cannot_give_all_levels_is_not_used(camp: Camp) -> None:
    lead = camp.lead("run", "spread.toml", "-o", "results")
    invitation = camp.invitation
    native = camp.folder / "native"
    native.mkdir()
    other = os.environ.get("HEAPWRIGHT_NATIVE")
    os.environ["HEAPWRIGHT_NATIVE"] = str(native)
    try:
        camp.start(*invitation, host="poor", append=True)
    finally:
        if other is None:
            del os.environ["HEAPWRIGHT_NATIVE"]
        else:
            os.environ["HEAPWRIGHT_NATIVE"] = other
    camp.until(lambda: "poor is not used" in camp.text)
    assert camp.runs() == 0
    lead.send_signal(signal.SIGINT)
    assert camp.ended(lead) == 130


def test_a_host_that_cannot_make_a_run_is_not_asked_again(camp: Camp) -> None:
    hook = '[hooks]\nbefore_run = "test ! -e {folder}/broken-$HEAPWRIGHT_HOST"\n'
    (camp.folder / "spread.toml").write_text(STUDY + hook, encoding="utf-8")
    (camp.folder / "broken-a").touch()
    lead = camp.lead("run", "spread.toml", "-o", "results")
    camp.worker("b")
    camp.until(lambda: camp.begun() == 1)
    camp.worker("a")
    camp.until(lambda: "a is no longer used: the hook before_run" in camp.text)
    camp.go.touch()
    assert camp.ended(lead) == 0, camp.text
    assert set(judge_whole(camp)) == {"b"}


def test_options_that_do_not_go_together(camp: Camp) -> None:
    for words in (
        ["--scheduler", "tcp://x:1", "--listen", "0"],
        ["--hosts", " , "],
        ["--insecure"],
    ):
        process = camp.start("run", "spread.toml", "-o", "results", *words)
        assert camp.ended(process) == 2
    assert not (camp.folder / "results").exists()
