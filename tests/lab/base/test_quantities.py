# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from heapwright.base.quantities import several, size


def test_one_is_not_several() -> None:
    assert several(1, "call") == "1 call"
    assert several(0, "call") == "0 calls"
    assert several(1234, "call") == "1,234 calls"
    assert several(2, "process", "processes") == "2 processes"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536 << 10, "1.5 MiB"),
        (1 << 41, "2,048.0 GiB"),
    ],
)
def test_bytes_are_printed_in_a_suitable_unit(count: int, text: str) -> None:
    assert size(count) == text
