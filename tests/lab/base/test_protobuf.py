# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is written as a message is read back, and other bytes are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.base.protobuf import BadMessageError, Message, fields_of, packed_integers

VALUE = st.integers(1, 2**64 - 1)
PARTS = st.lists(st.tuples(st.integers(1, 2**29 - 1), VALUE | st.binary(max_size=20)))


@given(PARTS)
def test_a_message_is_read_as_it_was_written(parts: list[tuple[int, int | bytes]]) -> None:
    out = Message()
    for field, value in parts:
        if isinstance(value, int):
            out.integer(field, value)
        else:
            out.whole(field, value)
    assert list(fields_of(out.content())) == parts


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_packed_integers_are_read_as_they_were_written(values: list[int]) -> None:
    out = Message()
    out.packed(1, values)
    ((_, content),) = fields_of(out.content())
    assert list(packed_integers(content)) == values


def test_fixed_fields_are_bytes() -> None:
    assert list(fields_of(b"\x09" + b"12345678" + b"\x15" + b"1234")) == [
        (1, b"12345678"),
        (2, b"1234"),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x0a\x05ab", "ends behind the end"),
        (b"\x08\xff", "does not end"),
        (b"\x08" + b"\xff" * 11, "does not end"),
        (b"\x00\x00", "number 0"),
        (b"\x0b", "kind 3"),
    ],
)
def test_other_bytes_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(BadMessageError, match=words):
        list(fields_of(content))
