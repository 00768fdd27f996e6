# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Lines and numbers of the text formats of other tools, and the message for a damaged file."""

from collections.abc import Iterator
from typing import BinaryIO

from heapwright.base.errors import HeapwrightError

LONGEST_LINE = 1 << 20
LARGEST = 1 << 53
"""No count and no amount of bytes is larger: 8 PiB."""
SHOWN = 60


class Lines:
    """The lines of a file. `fault` names the file and the line that was read last."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self.name = name
        self.number = 0
        self._file = file
        self._last = b""

    def __iter__(self) -> Iterator[str]:
        for line in self.raw():
            yield line.decode("utf-8", "replace").rstrip("\r\n")

    def raw(self) -> Iterator[bytes]:
        """The lines as bytes, with their ends."""
        while line := self._file.readline(LONGEST_LINE):
            self.number += 1
            self._last = line
            if len(line) == LONGEST_LINE:
                raise self.fault(f"it has more than {LONGEST_LINE:,} bytes")
            yield line

    def fault(self, what: str, hint: str = "") -> HeapwrightError:
        """The error of the line that was read last."""
        shown = self._last[:SHOWN].decode("utf-8", "replace").rstrip()
        return damaged(self.name, f"line {self.number}: {what}: {shown!r}", hint)

    def cut(self, what: str) -> HeapwrightError:
        """The error of a file that ends too early."""
        return damaged(self.name, f"it ends after line {self.number}, {what}")

    def count(self, text: str, base: int = 10) -> int:
        """A number that counts or measures."""
        return self._number(text, base, LARGEST)

    def address(self, text: str) -> int:
        """A hexadecimal number of at most 64 bits."""
        return self._number(text, 16, 1 << 64)

    def _number(self, text: str, base: int, largest: int) -> int:
        digits = text.removeprefix("0x") if base == 16 else text
        if not digits.isalnum() or not digits.isascii() or len(digits) > 20:
            raise self.fault(f"{text[:SHOWN]!r} is no number")
        try:
            found = int(digits, base)
        except ValueError:
            raise self.fault(f"{text[:SHOWN]!r} is no number") from None
        if found >= largest:
            raise self.fault(f"{text[:SHOWN]} is too large")
        return found


def damaged(name: str, what: str, hint: str = "") -> HeapwrightError:
    """The error for a file that its tool would not have written."""
    return HeapwrightError(f"{name} is damaged: {what}", hint or "write the file again by its tool")
