# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright top --by-site` shows the holders of memory in a process under the sampler."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from itertools import islice
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.profile import Bounds
from heapwright.base import native
from heapwright.commands import top_sampled
from heapwright.commands.top_sampled import SampledSites
from heapwright.report.console import make_console
from heapwright.report.top import Screen, SiteLine, drawn, line

from .conftest import KEPT, TOP, by_site, kib, running, tell

REQUESTED = {"HEAPWRIGHT_SAMPLE_SIGNAL": "SIGUSR2", "HEAPWRIGHT_SAMPLE_FILE": "of"}
Start = Callable[..., AbstractContextManager["subprocess.Popen[str]"]]


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Start:
    """Starts the program under the sampler. The same samples in each run."""

    def started(**settings: str) -> AbstractContextManager["subprocess.Popen[str]"]:
        preload = {"LD_PRELOAD": str(native.library("sampler"))}
        sampling = {"HEAPWRIGHT_SAMPLE": "4K", "HEAPWRIGHT_SAMPLE_SEED": "1"}
        return running(program, cwd=tmp_path, **preload, **sampling, **settings)

    return started


def stop(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)


def test_the_holder_of_memory_is_named_and_its_interval_contains_the_truth(
    start: Start, tmp_path: Path
) -> None:
    with start(HEAPWRIGHT_SAMPLE_SIGNAL="USR2", HEAPWRIGHT_SAMPLE_FILE="of") as process:
        done = by_site(process.pid)
        assert done.returncode == 0
        assert process.poll() is None
    rows = [each for each in done.stdout.splitlines() if "←" in each]
    assert "keep (sites.c:" in rows[0]
    assert "← main (sites.c:" in rows[0]
    assert "waste" not in done.stdout, "its blocks are freed"
    amounts = [kib(*each) for each in re.findall(r"([\d.]+) (B|KiB|MiB)", rows[0])]
    assert amounts[1] <= KEPT / 1024 <= amounts[2]
    assert list(tmp_path.iterdir()) == [], "requested documents are removed"


def test_a_process_without_sampler_and_recorder_is_refused(program: Path) -> None:
    with running(program) as process:
        done = by_site(process.pid)
    assert done.returncode == 2
    assert "is not under the sampler and is not recorded" in done.stderr
    assert f"heapwright attach --stacks {process.pid}" in done.stderr


def test_a_signal_that_would_end_the_process_is_not_sent(start: Start) -> None:
    with start(HEAPWRIGHT_SAMPLE_SIGNAL="USR2") as process:
        tell(process, "d")
        done = by_site(process.pid)
        assert done.returncode == 0
        assert process.poll() is None
    assert "the sampler writes by itself" in " ".join(done.stdout.split())


def test_documents_that_exist_are_shown_and_kept_without_a_signal(
    start: Start, tmp_path: Path
) -> None:
    with start(HEAPWRIGHT_SAMPLE_THRESHOLD="1M") as process:
        before = set(tmp_path.iterdir())
        done = by_site(process.pid)
        assert set(tmp_path.iterdir()) == before
    assert before
    assert "keep (sites.c:" in done.stdout


def test_the_readings_follow_the_program_until_ctrl_c(start: Start, tmp_path: Path) -> None:
    with start(**REQUESTED) as process, watching(process.pid) as top:
        assert top.stdout is not None
        kept = [kept_in(line) for line in islice(top.stdout, 3)]
        assert len(kept) == 3
        tell(process, "g")
        assert any(kept_in(line) > 1.5 * kept[0] for line in islice(top.stdout, 200))
        top.send_signal(signal.SIGINT)
        assert top.wait() == 0
        assert tell(process, "g") == 0
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_before_the_first_document_leaves_no_file(start: Start, tmp_path: Path) -> None:
    with start(**REQUESTED) as process:
        stop(process)
        status = Path(f"/proc/{process.pid}/status")
        with watching(process.pid) as top:
            while re.search(r"ShdPnd:\s*0+\n", status.read_text("utf-8")) and top.poll() is None:
                time.sleep(0.01)
            top.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGCONT)
            assert top.wait() == 0
    assert list(tmp_path.iterdir()) == []


@contextmanager
def watching(pid: int) -> Iterator["subprocess.Popen[str]"]:
    command = [*TOP, "--interval", "0.2", "--by-site", str(pid)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as top:
        try:
            yield top
        finally:
            top.kill()


def kept_in(line: str) -> float:
    found = re.search(r"at keep[^ ]* (?:\([^)]*\) )?([\d.]+) (B|KiB|MiB)", line)
    assert found is not None, line
    return kib(found[1], found[2])


@pytest.mark.parametrize("change", ["e", "f"], ids=["exec", "folder"])
def test_a_process_is_followed_through_a_change(start: Start, tmp_path: Path, change: str) -> None:
    (tmp_path / "inner").mkdir()
    with start(**REQUESTED) as process:
        found = SampledSites(process.pid)
        found.wait()
        before = found.lines
        tell(process, change)
        found.wait()
        found.close()
    assert found.lines is not before
    assert "keep" in found.lines[0].calls[0]
    assert list(tmp_path.rglob("of*")) == []


def test_a_signal_is_not_sent_after_its_handler_is_gone(start: Start) -> None:
    with start(**REQUESTED) as process:
        found = SampledSites(process.pid)
        found.wait()
        tell(process, "d")
        found.wait()
        found.close()
        assert tell(process, "g") == 0, "it still runs"
    assert "the program has replaced its handler" in found.note


def test_a_handler_of_the_program_receives_one_signal(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(top_sampled, "PATIENCE_S", 0.0)
    with start(**REQUESTED) as process:
        tell(process, "o")
        found = SampledSites(process.pid)
        for _ in range(3):
            found.wait()
        found.close()
        assert tell(process, "g") == 1
    assert "the program has replaced its handler" in found.note


def test_a_signal_to_end_is_not_sent(start: Start, tmp_path: Path) -> None:
    with start(HEAPWRIGHT_SAMPLE_SIGNAL="TERM") as process:
        found = SampledSites(process.pid)
        found.wait()
        found.close()
        assert tell(process, "g") == 0
    assert found.lines == ()
    assert "the sampler writes by itself" in found.note
    assert list(tmp_path.iterdir()) == []


def test_a_late_document_is_removed(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(**REQUESTED) as process:
        found = SampledSites(process.pid)
        found.wait()
        stop(process)
        with monkeypatch.context() as patch:
            patch.setattr(top_sampled, "PATIENCE_S", 0.0)
            for _ in range(3):
                found.wait()
        assert "is stopped" in found.note
        process.send_signal(signal.SIGCONT)
        found.close()
        assert list(tmp_path.iterdir()) == []


def test_the_last_document_of_an_ended_process_is_removed(start: Start, tmp_path: Path) -> None:
    with start(**REQUESTED) as process:
        found = SampledSites(process.pid)
        found.wait()
        found.read()
        tell(process, "g")  # the signal comes first
        process.kill()
        process.wait()
        assert list(tmp_path.iterdir()) != []
        found.close()
    assert list(tmp_path.iterdir()) == []


def test_a_document_that_is_gone_is_passed_over(start: Start, tmp_path: Path) -> None:
    with start(**REQUESTED) as process:
        found = SampledSites(process.pid)
        gone = tmp_path / f"of.{process.pid}.99.samples"
        gone.symlink_to("nowhere")
        found.wait()
        found.close()
    assert found.lines
    assert list(tmp_path.iterdir()) == [gone]


def sites(width: int) -> str:
    lines = [
        SiteLine((f"function_{number}", "called_by", "main"), number << 20, Bounds(0, 1 << 30), 5.0)
        for number in range(1, 9)
    ]
    screen = Screen(7, "program", 1, None, None, (), (), None, (), lines)
    out = StringIO()
    make_console(out, width=width).print(drawn(screen, width))
    return out.getvalue()


@pytest.mark.parametrize("width", [45, 80, 120])
def test_the_sites_fit_the_width(width: int) -> None:
    lines = sites(width).splitlines()
    assert max(map(len, lines)) <= width
    assert sum("function_" in each for each in lines) == 8
    assert any("1.0 GiB" in each for each in lines) == (width >= 60)


def test_a_line_names_the_largest_sites() -> None:
    lines = [SiteLine((name, "main"), 1 << 20, None, None) for name in "abcd"]
    screen = Screen(7, "program", 1, None, None, (), (), None, (), lines)
    assert line(screen, "12:00:00") == "12:00:00  at a 1.0 MiB  at b 1.0 MiB  at c 1.0 MiB"
