# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the system permits ptrace and counting. Both are tried.

Files do not decide it: the filter and the capabilities of a container do, and Yama, and the user.
"""

import ctypes
import os
import platform
import struct
import subprocess

PTRACE_SEIZE = 0x4206
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
"""The number of the system call, by machine."""
TASK_CLOCK = struct.pack("=IIQQQQQ", 1, 64, 1, 0, 0, 0, 1 << 5 | 1 << 6)
"""perf_event_attr of 64 bytes: a software event, which needs no counter, outside the kernel."""
ATTRIBUTES = TASK_CLOCK.ljust(64, b"\0")


def ptrace_error() -> int:
    """The error of tracing an own child process as `explain` does; 0: it is permitted."""
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    library.ptrace.restype = ctypes.c_long
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        try:
            traced = library.ptrace(PTRACE_SEIZE, child.pid, None, None) == 0
            return 0 if traced else ctypes.get_errno()
        finally:
            child.kill()


def perf_error() -> int | None:
    """The error of opening an event of software; 0: it is permitted; None: unknown machine."""
    number = PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return None
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    attributes = ctypes.create_string_buffer(ATTRIBUTES, len(ATTRIBUTES))
    descriptor = library.syscall(
        ctypes.c_long(number),
        attributes,
        ctypes.c_long(0),  # this process
        ctypes.c_long(-1),  # on any processor
        ctypes.c_long(-1),  # in no group
        ctypes.c_long(0),
    )
    if descriptor < 0:
        return ctypes.get_errno()
    os.close(descriptor)
    return 0
