# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the system permits is tried: with the rights of this process, and under a filter."""

import errno
import platform
import subprocess
import sys

import pytest

from heapwright.doctor.rights import PERF_EVENT_OPEN, perf_error, ptrace_error

UNDER_A_FILTER = """
import ctypes, struct, sys
from heapwright.doctor.rights import PERF_EVENT_OPEN, perf_error, ptrace_error

def line(code, jump_true, jump_false, value):
    return struct.pack("=HBBI", code, jump_true, jump_false, value)

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x00050000 | 1, 0x7FFF0000
lines = [
    line(LOAD, 0, 0, 0),
    line(EQUAL, 1, 0, 101),
    line(EQUAL, 0, 1, PERF_EVENT_OPEN["x86_64"]),
    line(RETURN, 0, 0, REFUSE),
    line(RETURN, 0, 0, ALLOW),
]
code = ctypes.create_string_buffer(b"".join(lines))
program = struct.pack("@HP", len(lines), ctypes.addressof(code))
libc = ctypes.CDLL(None)
words = [ctypes.c_ulong(each) for each in (1, 0, 0, 0)]
if libc.prctl(38, *words) or libc.prctl(22, ctypes.c_ulong(2), program, 0, 0):
    sys.exit("no filter")
print(ptrace_error(), perf_error())
"""
"""Refuses ptrace (101) and perf_event_open with EPERM, as a filter of a container does."""


def test_errors_are_those_of_a_refusal() -> None:
    refusals = {0, errno.EPERM, errno.EACCES, errno.ENOSYS}
    assert ptrace_error() in refusals
    assert perf_error() in (refusals if platform.machine() in PERF_EVENT_OPEN else {None})


def test_a_filter_that_refuses_is_noticed() -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the filter of this test is for x86-64")
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_FILTER], capture_output=True, text=True, check=False
    )
    if done.stderr.strip() == "no filter":
        pytest.skip("this system has no filters of system calls")
    assert done.stdout.split() == [str(errno.EPERM), str(errno.EPERM)], done.stderr
