# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures in words: nothing reads as if it were nothing, or all, that is not."""

import pytest

from heapwright.artefacts.profile.document import Site
from heapwright.report.profile import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (1.19 * (1 << 20), "1.19 MiB"),
        (526 * (1 << 20), "526 MiB"),
        (1023.9 * 1024, "1 MiB"),
        (5 << 40, "5 TiB"),
        (3 << 70, "3,072 EiB"),
    ],
)
def test_memory(value: float | None, text: str) -> None:
    assert words.memory(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0 %"),
        (1e-9, "< 0.1 %"),
        (0.0127, "1.3 %"),
        (0.9999, "> 99.9 %"),
        (1, "100 %"),
    ],
)
def test_share(value: float | None, text: str) -> None:
    assert words.share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0 ns"),
        (2e-9, "2 ns"),
        (1e-6, "1 µs"),
        (0.05, "50 ms"),
        (7.1711, "7.17 s"),
        (600, "10.0 min"),
    ],
)
def test_duration(value: float | None, text: str) -> None:
    assert words.duration(value) == text


def test_a_place_is_past_what_only_passes_requests_on() -> None:
    site = Site(
        process=0,
        stack=3,
        frames=("operator new(unsigned long)", "std::vector<int>::push_back(int)", "load()"),
        allocations=1,
        bytes=1,
        short=0,
        never_freed=0,
        never_freed_bytes=0,
    )
    assert words.place_of(site) == "load()"
    assert words.place_of(site.model_copy(update={"frames": site.frames[:2]})) == site.frames[0]
    assert words.place_of(site.model_copy(update={"frames": ()})) == "stack 3"
