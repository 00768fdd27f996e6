# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts for CPython: objects that are kept or dropped, and blocks of C's malloc that are lost."""

import ctypes
import sys
import time
from collections.abc import Callable, Iterator


def steps(count: int, seconds: float) -> Iterator[int]:
    begin = time.monotonic()
    for i in range(count):
        yield i
        time.sleep(max(begin + seconds * (i + 1) / count - time.monotonic(), 0))


def keep() -> None:
    """Some 50 MB of dictionaries, which CPython's own allocator serves."""
    kept = []
    for i in steps(150, 1.5):
        kept += [{"number": j, "name": str(j)} for j in range(i * 1000, i * 1000 + 1000)]


def drop() -> None:
    for _ in steps(150, 1.0):
        made = [{"number": j} for j in range(200)]
        made.clear()


def lose() -> None:
    c = ctypes.CDLL(None)
    c.malloc.restype = ctypes.c_void_p
    for _ in steps(700, 1.4):
        ctypes.memset(c.malloc(ctypes.c_size_t(3000)), 1, 3000)


def large() -> None:
    """Strings of 20 KB, which CPython takes from malloc."""
    kept = []
    for _ in steps(500, 1.5):
        kept.append("x" * 20000)


SCENARIOS: dict[str, Callable[[], None]] = {
    "keep": keep,
    "drop": drop,
    "lose": lose,
    "large": large,
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
