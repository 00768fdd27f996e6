# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Messages in the bytes of protocol buffers, written and read without a schema.

A message is a sequence of fields. A field has a number and a value: an integer, or bytes. The bytes
hold a text, a message or packed integers.
"""

from collections.abc import Iterable, Iterator

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5
MOST_BITS = 64


class BadMessageError(ValueError):
    """Bytes that are no message."""


class Message:
    """The bytes of a message that is written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def integer(self, field: int, value: int) -> None:
        """A field of an integer type; 0 is left out."""
        if value:
            self._parts += (_varint(field << 3), _varint(value))

    def packed(self, field: int, values: Iterable[int]) -> None:
        """A repeated field of an integer type."""
        self.whole(field, b"".join(map(_varint, values)))

    def whole(self, field: int, content: bytes) -> None:
        """A field of a message or a string."""
        self._parts += (_varint(field << 3 | BYTES), _varint(len(content)), content)

    def text(self, field: int, content: str) -> None:
        """A field of a string; an empty one is left out."""
        if content:
            self.whole(field, content.encode("utf-8", "surrogateescape"))

    def content(self) -> bytes:
        return b"".join(self._parts)


def _varint(value: int) -> bytes:
    """Seven bits in each byte, the lowest first; `value` is not negative."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def fields_of(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in their order. Raises BadMessageError."""
    at = 0
    while at < len(content):
        key, at = _read_varint(content, at)
        field, kind = key >> 3, key & 7
        if field == 0:
            raise BadMessageError(f"no field has the number 0, at byte {at}")
        if kind == VARINT:
            value, at = _read_varint(content, at)
            yield field, value
            continue
        if kind == BYTES:
            size, at = _read_varint(content, at)
        elif kind in (FIXED_32, FIXED_64):
            size = 4 if kind == FIXED_32 else 8
        else:
            raise BadMessageError(f"no field has the kind {kind}, at byte {at}")
        if size > len(content) - at:
            raise BadMessageError(f"a field ends behind the end, at byte {at}")
        yield field, content[at : at + size]
        at += size


def packed_integers(value: int | bytes) -> Iterator[int]:
    """The integers of a repeated field, which is packed or not. Raises BadMessageError."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        found, at = _read_varint(value, at)
        yield found


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content) and shift < MOST_BITS:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & ((1 << MOST_BITS) - 1), at
        shift += 7
    raise BadMessageError(f"an integer does not end, at byte {at}")
