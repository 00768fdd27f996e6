# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright top --by-site` shows the holders of memory in a process that is recorded."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import TRACE_MAGIC
from heapwright.commands.top_sites import sites_of
from heapwright.record.running import HEADER_BYTES, RECORDING, running_trace
from heapwright.report.top import SiteLine

from .conftest import KEPT, by_site, running, tell


@contextmanager
def attached(pid: int, trace: Path, *more: str) -> Iterator[None]:
    """Records the process meanwhile, as `heapwright attach` does."""
    words = [str(native.program("attach")), "--trace", str(trace), "--no-system", *more]
    words += ["--library", str(native.library("attached")), str(pid)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"recording\n"
        try:
            yield
        finally:
            process.terminate()
            said, _ = process.communicate()
        assert json.loads(said)["left"] == ""


def kept(lines: tuple[SiteLine, ...] | list[SiteLine]) -> int:
    """The bytes of the site that keeps its blocks."""
    (found,) = (each for each in lines if each.calls[0].startswith("keep "))
    return found.bytes


def test_the_holder_since_the_attachment_is_named_with_its_bytes(
    program: Path, tmp_path: Path
) -> None:
    with running(program) as process:
        with attached(process.pid, tmp_path / "t.trace", "--stacks"):
            tell(process, "g")
            done = by_site(process.pid)
            assert done.returncode == 0, done.stderr
        assert tell(process, "g") == 0, "it still runs"
    (row,) = (each for each in done.stdout.splitlines() if "keep (sites.c:" in each)
    assert row.split()[:2] == ["7.6", "MiB"]
    assert "← main (sites.c:" in row
    assert "waste" not in done.stdout, "its blocks are freed"
    assert "when the recording began" in done.stdout
    assert "from" not in done.stdout, "an exact figure has no interval"


def test_the_readings_follow_the_program_to_the_end_of_the_recording(
    program: Path, tmp_path: Path
) -> None:
    with running(program) as process:
        with attached(process.pid, tmp_path / "t.trace", "--stacks"):
            found = sites_of(process.pid)
            found.wait()
            assert len(found.lines) == 0
            assert "no block is live" in found.note
            for times in (1, 2):
                tell(process, "g")
                found.read()
                assert kept([*found.lines]) == times * KEPT
            assert found.lines[0].rate is not None
            assert found.lines[0].rate > 0
            tell(process, "g")
        found.read()
        assert kept([*found.lines]) == 3 * KEPT
        assert "has ended" in found.note
        found.close()


def test_sampled_blocks_estimate_all(program: Path, tmp_path: Path) -> None:
    with (
        running(program) as process,
        attached(process.pid, tmp_path / "t.trace", "--stacks", "--sample", "4"),
    ):
        tell(process, "g")
        found = sites_of(process.pid)
        found.wait()
    assert kept([*found.lines]) == pytest.approx(KEPT, rel=0.12)  # six standard deviations
    assert "one block in 4" in found.note


def recorder(trace: Path, *more: str) -> list[str]:
    """The words before a program that record it, as `heapwright record` does."""
    words = [str(native.program("record")), "--trace", str(trace), "--stacks", *more]
    return [*words, "--preload", str(native.library("recorder")), "--result-fd", "2", "--"]


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8"))


def test_a_process_under_record_is_shown_too(program: Path, tmp_path: Path) -> None:
    with running(program, *recorder(tmp_path / "t.trace")) as launcher:
        found = sites_of(child_of(launcher.pid))
        found.wait()
        assert kept([*found.lines]) == KEPT
        tell(launcher, "g")
        found.read()
        assert kept([*found.lines]) == 2 * KEPT


def test_a_child_that_is_not_followed_does_not_show_its_parent(
    program: Path, tmp_path: Path
) -> None:
    with running(program, *recorder(tmp_path / "t.trace")) as launcher:
        tell(launcher, "w")
        worker = child_of(child_of(launcher.pid))
        with pytest.raises(HeapwrightError, match=f"{worker} is not recorded in the trace") as why:
            sites_of(worker).wait()
    assert "--follow-children" in why.value.hint


@pytest.mark.parametrize("fork", ["w", "q"], ids=["fork", "fork without handlers"])
def test_a_followed_child_without_calls_is_said_to_have_none(
    program: Path, tmp_path: Path, fork: str
) -> None:
    with running(program, *recorder(tmp_path / "t.trace", "--follow-children")) as launcher:
        tell(launcher, fork)
        found = sites_of(child_of(child_of(launcher.pid)))
        found.wait()
    assert found.lines == ()
    assert "the process has made no call since its fork" in found.note


def test_readings_go_on_after_a_pause(program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "t.trace"

    def turn(on: int) -> None:
        with trace.open("r+b") as file:
            file.seek(RECORDING)
            file.write(on.to_bytes(4, "little"))

    with running(program) as process, attached(process.pid, trace, "--stacks"):
        tell(process, "g")
        found = sites_of(process.pid)
        turn(0)
        found.wait()
        tell(process, "g")
        found.read()
        assert "paused" in found.note
        assert kept([*found.lines]) == KEPT
        turn(1)
        tell(process, "g")
        found.read()
        assert "paused" not in found.note
        assert kept([*found.lines]) == 2 * KEPT


@pytest.mark.parametrize("name", ["t.trace", "t\x0b\x1c\x85\u2028\r.trace"])
def test_the_file_that_is_mapped_is_taken_whatever_its_name(tmp_path: Path, name: str) -> None:
    header = TRACE_MAGIC.ljust(HEADER_BYTES, b"\0")
    host = tmp_path / name
    root = tmp_path / "proc" / "7" / "root"
    mapped = root / str(host).lstrip("/")
    mapped.parent.mkdir(parents=True)
    for each in (host, mapped):
        each.write_bytes(header)
    row = f"7f0000000000-7f0000001000 rw-s 00000000 00:1f {mapped.stat().st_ino} {host}\n"
    (tmp_path / "proc" / "7" / "maps").write_bytes(row.encode())
    found = running_trace(7, tmp_path / "proc")
    assert found is not None
    assert found.path == mapped


def test_a_recording_without_stacks_is_refused(program: Path, tmp_path: Path) -> None:
    with (
        running(program) as process,
        attached(process.pid, tmp_path / "t.trace"),
        pytest.raises(HeapwrightError, match="recorded without call stacks"),
    ):
        sites_of(process.pid)


def test_a_removed_trace_is_named_and_leaves_the_lines(program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "t.trace"
    with running(program) as process, attached(process.pid, trace, "--stacks"):
        tell(process, "g")
        found = sites_of(process.pid)
        found.wait()
        trace.unlink()
        found.read()
        assert kept([*found.lines]) == KEPT
        assert "is no longer readable" in found.note
        with pytest.raises(HeapwrightError, match="which was removed"):
            sites_of(process.pid)
