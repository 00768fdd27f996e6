# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios in words."""

import math

import pytest

from heapwright.analysis.ratio_text import (
    Span,
    listed,
    memory_in_words,
    percent_text,
    size_text,
    time_in_words,
)


@pytest.mark.parametrize(
    ("span", "time", "memory"),
    [
        (Span(0.92, 0.90, 0.94), "8 % faster (6 to 10)", "8 % less memory (6 to 10)"),
        (Span(1.25, 1.20, 1.31), "25 % slower (20 to 31)", "25 % more memory (20 to 31)"),
        (Span(1.001, 0.996, 1.006), "as fast (-0.4 to +0.6 %)", "as much memory (-0.4 to +0.6 %)"),
        (Span(1, 1, 1), "as fast (0 %)", "as much memory (0 %)"),
        (Span(0.97, 0.92, 1.02), "time -3 % (-8 to +2)", "memory -3 % (-8 to +2)"),
        (Span(0.4, 0.38, 0.42), "2.5 times as fast (2.4 to 2.6)", "60 % less memory (58 to 62)"),
        (
            Span(3.1, 2.9, 3.3),
            "3.1 times as slow (2.9 to 3.3)",
            "3.1 times the memory (2.9 to 3.3)",
        ),
        (Span(0.955, 0.95, 0.96), "4.5 % faster (4.0 to 5.0)", "4.5 % less memory (4.0 to 5.0)"),
        (Span(0.9, 0.9, 0.9), "10 % faster", "10 % less memory"),
        (Span(0.9, 0.0, math.inf), "time -10 % (no interval)", "memory -10 % (no interval)"),
    ],
)
def test_ratios(span: Span, time: str, memory: str) -> None:
    assert time_in_words(span, 0.02) == time
    assert memory_in_words(span, 0.02) == memory


def test_sizes_percentages_and_lists() -> None:
    sizes = [512, 2048, 512 << 20, 3500 << 20, 1 << 40]
    assert [size_text(n) for n in sizes] == ["512 bytes", "2 KiB", "512 MiB", "3.42 GiB", "1 TiB"]
    assert [percent_text(f) for f in (0.02, 0.005, 0.1)] == ["2 %", "0.5 %", "10 %"]
    assert [listed(n) for n in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
