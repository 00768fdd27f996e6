# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright look` from its options to its document, and what it refuses."""

import ctypes.util
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapwright.artefacts.look.document import Access, Kind, Look
from heapwright.base import native

from .tools import Heapwright, compile_c

WAITER = """
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    static char *volatile kept[200];
    for (int i = 0; i < 200; ++i) memset(kept[i] = malloc(50000), 1, 50000);
    if (write(1, "r", 1) != 1) return 1;
    for (;;) pause();
}
"""


@pytest.fixture
def waiter(tmp_path: Path) -> Iterator[str]:
    """A process that waits with 200 live blocks."""
    program = compile_c(tmp_path / "waiter", WAITER)
    with subprocess.Popen([str(program)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"r"
        try:
            yield str(process.pid)
        finally:
            process.kill()


def test_a_running_process_is_explained(
    heapwright: Heapwright, waiter: str, tmp_path: Path
) -> None:
    done = heapwright("look", "--json", "look.json", waiter)
    assert done.status == 0, done.err
    assert "Live: 9.5 MiB" in done.out
    assert "trim releases" in done.out
    assert "next:" not in done.err
    found = Look.from_json((tmp_path / "look.json").read_bytes())
    assert found.pid == int(waiter)
    assert found.name == "waiter"
    assert found.allocator == "glibc"
    assert found.verdict.kind is Kind.LIVE
    assert found.glibc is not None
    assert found.glibc.arenas[0].live.blocks >= 200
    assert found.leaks is not None
    assert found.leaks.blocks == 0


def test_the_sentence_alone_and_the_document_on_standard_output(
    heapwright: Heapwright, waiter: str
) -> None:
    done = heapwright("look", "-q", "--pause", "--json", "-", waiter)
    assert done.status == 0, done.err
    found = Look.from_json(done.out)
    assert found.pause_ms is not None
    assert done.err == f"{found.verdict.sentence}\n"


def test_a_process_under_another_allocator_is_named(heapwright: Heapwright, tmp_path: Path) -> None:
    program = compile_c(tmp_path / "waiter", WAITER)
    environment = {"LD_PRELOAD": str(native.library("granary"))}
    with subprocess.Popen([str(program)], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        try:
            done = heapwright("look", str(process.pid))
        finally:
            process.kill()
    assert done.status == 0, done.err
    assert "Live: granary has" in done.out


def test_without_the_right_the_sums_remain(
    heapwright: Heapwright, waiter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "native"
    (fake / "bin").mkdir(parents=True)
    denied = fake / "bin" / "heapwright-look"
    denied.write_text("#!/bin/sh\necho 'heapwright-look: mem: Permission denied' >&2\nexit 4\n")
    denied.chmod(0o755)
    monkeypatch.setenv(native.VARIABLE, str(fake))
    done = heapwright("look", "--json", "-", waiter)
    assert done.status == 1
    found = Look.from_json(done.out)
    assert found.access is Access.STATUS
    assert sum(each.resident_bytes for each in found.categories) == found.resident_bytes > 0
    assert "cannot be read" in done.err
    assert "anonymous (heap, stacks, data)" in done.err
    assert "threads 1\n" in done.err
    row = next(line for line in done.err.splitlines() if line.startswith("anonymous "))
    assert row.split()[-3:] == ["-", "-", "-"]


def test_what_is_not_a_process_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no core\n" * 100, encoding="utf-8")
    empty = tmp_path / "empty"
    empty.touch()
    library = Path(ctypes.util.__file__)  # a file that is no ELF file
    cases = {
        ("4194303",): "there is no process 4194303",
        ("nothing",): "neither the number of a process nor a file",
        (str(text),): "is no core file",
        (str(empty),): "is empty",
        (str(library),): "is no core file",
        ("/bin/true",): "start the program and give its PID",
        (str(tmp_path),): "is a folder",
        ("--pause", str(text)): "--pause is for a process",
    }
    for words, refusal in cases.items():
        done = heapwright("look", *words)
        assert done.status == 2, words
        assert refusal in done.err, words
        assert "Traceback" not in done.err


def test_a_truncated_core_is_refused_or_named(heapwright: Heapwright, tmp_path: Path) -> None:
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    core = tmp_path / "core"
    core.write_bytes(head)
    done = heapwright("look", core)
    assert done.status == 2
    assert "truncated within its first tables" in done.err
    load = struct.pack("<IIQQQQQQ", 1, 6, 4096, 0x10000, 0, 1 << 30, 1 << 30, 4096)
    core.write_bytes((head + load).ljust(4096 * 3, b"\1"))
    done = heapwright("look", core)
    assert done.status == 0
    assert "The core file is truncated: it lacks 1,024.0 MiB" in done.out
    assert "truncated before the heap" in done.out
    assert "another C library" not in done.out


def test_a_pause_of_a_process_that_is_traced_names_the_tracer(
    heapwright: Heapwright, waiter: str
) -> None:
    trace = (
        "import ctypes, sys\n"
        "status = ctypes.CDLL(None, use_errno=True).ptrace(0x4206, int(sys.argv[1]), 0, 0)\n"
        "print(status, flush=True)\n"
        "sys.stdin.read()\n"
    )
    words = [sys.executable, "-c", trace, waiter]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tracer:
        assert tracer.stdout is not None
        if tracer.stdout.readline() != b"0\n":
            pytest.skip("needs the right to trace a process")
        paused, running = heapwright("look", "--pause", waiter), heapwright("look", waiter)
    assert paused.status == 1
    assert f"process {waiter} is already traced by process {tracer.pid} (" in paused.out
    assert running.status == 0


def test_the_next_command_follows_a_leak_alone(heapwright: Heapwright, tmp_path: Path) -> None:
    leaking = WAITER.replace("kept[i] = malloc", "kept[0] = malloc")
    program = compile_c(tmp_path / "leaking", leaking)
    with subprocess.Popen([str(program)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        try:
            done, quiet = (heapwright("look", *q, str(process.pid)) for q in ((), ("-q",)))
        finally:
            process.kill()
    assert "Leak: " in done.out
    assert done.err.startswith("next: heapwright explain -- COMMAND ")
    assert not quiet.err


def test_a_process_that_hangs_is_looked_at(heapwright: Heapwright, waiter: str) -> None:
    os.kill(int(waiter), signal.SIGSTOP)
    done = heapwright("look", "-q", "--pause", waiter)
    assert done.status == 0, done.err
    assert done.out.startswith("Live: ")
    state = Path(f"/proc/{waiter}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    assert state == "T"
