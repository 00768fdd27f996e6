# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each comment names a call site whose figures test_python.py states."""

import sys
import threading

kept: list[object] = []


def large(count: int) -> None:
    for each in range(count):
        kept.append(bytes(1_000_000 + each))  # large


class Store:
    def grow(self) -> None:
        self.items = [0] * 500_000  # grow


def generator(count: int):  # type: ignore[no-untyped-def]
    for _ in range(count):
        yield bytearray(300_000)  # generator


def recursive(depth: int) -> object:
    if depth == 0:
        return bytes(2_000_000)  # recursive
    return recursive(depth - 1)


class Deep:
    """Each call of an operator has frames in C, so the chain is longer than 1,024."""

    def __add__(self, depth: int) -> object:
        if depth == 0:
            return bytes(3_000_000)  # deep
        return self + (depth - 1)


def over_one_line() -> tuple[bytes, bytes]:
    return bytes(410_000), bytes(420_000)  # twice


def collected() -> None:
    """Code objects that are released: the next one may come to the same address."""
    for each in range(40):
        source = f"def made_{each:02}():\n    return bytes({700_000 + each})\n"
        names: dict[str, object] = {}
        exec(compile(source, f"file_{each:02}.py", "exec"), names)
        names[f"made_{each:02}"]()


def naïve() -> bytes:  # noqa: PLC2401 - the name has to be encoded
    return bytes(5_000_000)  # naïve


sys.setrecursionlimit(5000)
threading.stack_size(256 << 20)
large(10)
store = Store()
store.grow()
kept.extend(generator(5))
kept.append(recursive(50))
kept.append(recursive(3000))
kept.append(Deep() + 400)
kept.append(over_one_line())
kept.append(naïve())
collected()
thread = threading.Thread(target=large, args=(3,))
thread.start()
thread.join()
