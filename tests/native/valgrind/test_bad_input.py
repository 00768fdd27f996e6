# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What cannot be counted is said, a part is called a part, and nothing is left behind."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.experiment import instrument

from .conftest import Counter, Workbench


def processes_running(program: Path) -> list[str]:
    """The processes whose command line names the program."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if os.fsencode(program) in words:
            found.append(entry.name)
    return found


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (instrument.Limits(seconds=2.0), "more than 2 s"),
        (instrument.Limits(trace_bytes=10 << 20), "beyond 10485760 bytes"),
    ],
    ids=["time", "trace"],
)
def test_a_limit_ends_the_program_and_the_part_is_called_one(
    workbench: Workbench, limits: instrument.Limits, words: str
) -> None:
    counts = workbench.count("lockless", "endings", "forever", operations=1000, limits=limits)
    assert not counts.complete
    assert words in counts.reason
    assert counts.operations is None
    assert counts.per_thousand(counts.instructions) is None
    assert not processes_running(workbench.program("endings"))


@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_counting_program(workbench: Workbench, way: signal.Signals) -> None:
    program = workbench.program("endings")
    words = [native.program("count"), "--result-fd", "1", "--", program, "forever"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, process_group=0) as process:
        while len(processes_running(program)) < 2:  # itself, and valgrind
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(way)
    patience = time.monotonic() + 30
    while processes_running(program):
        assert time.monotonic() < patience
        time.sleep(0.01)


def test_a_failing_program_is_reported_with_its_output(count: Counter) -> None:
    counts = count("lockless", "endings", "status")
    assert not counts.complete
    assert counts.reason == "the program left with status 3: this is why"


def test_a_killed_program_is_reported(count: Counter) -> None:
    counts = count("lockless", "endings", "abort")
    assert not counts.complete
    assert "SIGABRT" in counts.reason


def test_children_are_not_counted_and_do_no_harm(count: Counter) -> None:
    counts = count("lockless", "endings", "children")
    assert counts.complete, counts.reason
    assert counts.calls == 20
    assert counts.operations == 20, "the program's last line says so"


def test_a_program_that_never_allocates_is_refused(workbench: Workbench) -> None:
    with pytest.raises(HeapwrightError, match="never called malloc"):
        workbench.count("lockless", "endings", "nothing")


def test_a_statically_linked_program_is_refused(workbench: Workbench) -> None:
    static = workbench.program("endings", "-static")
    with pytest.raises(HeapwrightError, match="never called malloc") as refusal:
        instrument.count(workbench.library("lockless"), os.environ, [str(static), "status"])
    assert "linked statically" in refusal.value.hint


def test_a_library_without_malloc_is_refused(workbench: Workbench, tmp_path: Path) -> None:
    library = Path("/lib/x86_64-linux-gnu/libm.so.6")
    with pytest.raises(HeapwrightError, match=r"malloc is that of .*libc"):
        instrument.count(library, os.environ, [str(workbench.program("endings"))])
    program = str(workbench.program("endings"))
    with pytest.raises(HeapwrightError, match="malloc is that of"):
        instrument.count(tmp_path / "missing.so", os.environ, [program])


def test_a_program_that_is_not_there_is_refused(workbench: Workbench, tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match=r"did not run .*missing"):
        instrument.count(workbench.library("lockless"), os.environ, [str(tmp_path / "missing")])


def test_without_valgrind_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert instrument.missing() == "valgrind is not installed (package valgrind)"
    with pytest.raises(HeapwrightError) as refusal:
        instrument.count(None, os.environ, ["true"])
    assert refusal.value.hint == "apt-get install valgrind"


def test_without_the_compiled_parts_that_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    valgrind = tmp_path / "valgrind"
    valgrind.write_text("")
    valgrind.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HEAPWRIGHT_NATIVE", str(tmp_path))
    assert "compiled parts" in (instrument.missing() or "")
