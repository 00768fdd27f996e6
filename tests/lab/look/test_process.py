# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which right is missing, and processes without memory."""

import json
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.look.process import YAMA, Process, missing_right, other_tracer, read_process

USER = 1000
HUGE = 200 << 30
WAITS = """
import ctypes, mmap, sys
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # any process may look
space = mmap.mmap(-1, int(sys.argv[1]), flags=int(sys.argv[2]))
space[0] = space[int(sys.argv[1]) // 2] = 1
print("ready", flush=True)
sys.stdin.read()
"""


def process(user: int = USER) -> Process:
    """A process of a user."""
    return Process(7, "server", "S", 1, (user,) * 4, 0, 0, 0, 0, 0)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A folder in place of /proc, without Yama."""
    (tmp_path / YAMA).parent.mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("scope", "owner", "user", "why", "remedy"),
    [
        ("0", 1001, USER, "belongs to user 1001", "sudo heapwright look 7"),
        ("1", USER, USER, "ptrace_scope is 1", "sysctl kernel.yama.ptrace_scope=0"),
        ("2", USER, USER, "ptrace_scope is 2", "--cap-add=SYS_PTRACE"),
        ("3", USER, 0, "ptrace_scope is 3", "heapwright look CORE"),
        ("0", USER, 0, "root lacks the right SYS_PTRACE", "--cap-add=SYS_PTRACE"),
        ("0", USER, USER, "PR_SET_DUMPABLE", "sudo heapwright look 7"),
        ("", USER, USER, "PR_SET_DUMPABLE", "sudo heapwright look 7"),
    ],
)
def test_the_missing_right_is_named(  # noqa: PLR0917
    proc: Path, scope: str, owner: int, user: int, why: str, remedy: str
) -> None:
    if scope:
        (proc / YAMA).write_text(f"{scope}\n", encoding="utf-8")
    said = missing_right(process(owner), proc, user)
    assert why in said[0]
    assert remedy in said[1]


def test_a_kernel_that_refuses_in_spite_of_the_right_is_not_called_a_missing_right(
    proc: Path,
) -> None:
    status = proc / "self" / "status"
    status.parent.mkdir()
    status.write_text("CapEff:\t0000000000080000\n", encoding="utf-8")
    why, remedy = missing_right(process(), proc, 0)
    assert "the kernel refused" in why
    assert "although this process has SYS_PTRACE" in why
    assert "heapwright look CORE" in remedy
    status.write_text("CapEff:\t0000000000000000\n", encoding="utf-8")
    assert "root lacks" in missing_right(process(), proc, 0)[0]


def test_the_other_tracer_is_named(proc: Path) -> None:
    for pid in ("7", "9"):
        (proc / pid).mkdir()
    text = "Name:\tserver\nState:\tt\nVmRSS:\t4 kB\nTracerPid:\t9\n"
    (proc / "7" / "status").write_text(text, encoding="utf-8")
    (proc / "9" / "comm").write_text("gdb\n", encoding="utf-8")
    said = other_tracer(read_process(7, proc), proc)
    assert said is not None
    assert said[0] == "process 7 is already traced by process 9 (gdb)"
    assert "heapwright look 7" in said[1]
    assert other_tracer(process(), proc) is None


def test_a_process_that_does_not_exist_is_refused() -> None:
    with pytest.raises(HeapwrightError, match="there is no process 4194303"):
        read_process(4194303)


def test_a_process_that_has_ended_is_refused() -> None:
    with subprocess.Popen(["true"]) as ended:
        for _ in range(500):
            text = Path(f"/proc/{ended.pid}/stat").read_text(encoding="utf-8")
            if text.rpartition(")")[2].split()[0] == "Z":
                break
            time.sleep(0.01)
        with pytest.raises(HeapwrightError, match="has ended"):
            read_process(ended.pid)


def test_the_figures_that_each_user_may_read() -> None:
    own = read_process(os.getpid())
    assert own.resident >= own.anonymous > 0
    assert own.threads >= 1
    assert own.users[0] == os.getuid()


def test_two_hundred_gibibytes_of_mappings_are_counted() -> None:
    reserves_nothing = 0x4000
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | reserves_nothing
    words = [sys.executable, "-c", WAITS, str(HUGE), str(flags)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as waits:
        assert waits.stdout is not None
        assert waits.stdout.readline() == b"ready\n"
        looking = [str(native.program("look")), "--no-leaks", str(waits.pid)]
        found = json.loads(subprocess.run(looking, capture_output=True, check=True).stdout)
        waits.kill()
    largest = max(found["categories"], key=lambda each: int(each["bytes"]))
    assert largest["bytes"] >= HUGE
    assert 2 * mmap.PAGESIZE <= largest["resident_bytes"] < HUGE >> 8
