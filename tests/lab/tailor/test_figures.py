# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a trace whose calls are known."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.tailor import figures
from heapwright.tailor.figures import figures_of, together

TraceOfText = Callable[[Path, str], Path]
CALLS = """\
1: malloc 0x1000 24
1: malloc 0x2000 100
1: free 0x1000
1: malloc 0x1000 20
1: realloc 0x3000 0x2000 5000
2: free 0x1000
2: malloc 0x4000 40
"""


def test_figures_are_those_of_the_calls(trace_of_text: TraceOfText, tmp_path: Path) -> None:
    found = figures_of(trace_of_text(tmp_path, CALLS))
    assert (found.allocations, found.frees, found.reallocs, found.moved) == (5, 2, 1, 1)
    assert (found.remote, found.threads, found.never_freed) == (1, 2, 2)
    assert found.peak_bytes == 5040
    assert found.at_peak == {40: 1, 5000: 1}
    assert found.counts == {24: 1, 100: 1, 20: 1, 5000: 1, 40: 1}
    assert found.hits[8] == found.hits[1024] == 1  # 20 bytes reuse the block of 24
    assert found.hit_share(8) == 0.2


def test_a_thread_that_begins_after_the_walk_counts(
    trace_of_text: TraceOfText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "WALKED", 2)
    found = figures_of(trace_of_text(tmp_path, CALLS))
    assert found.walked == 2
    assert found.threads == 2


@pytest.mark.parametrize(
    ("sizes", "rises"),
    [
        ((100,), 0),
        ((100, -60), 0),
        ((100, -60, 55), 1),
        ((100, -40, 40), 0),  # it does not fall to half
        ((100, -60, 20, -20, 55, -60, 60), 2),
        ((30, 70, -60, 55), 1),  # the first rise begins the program
    ],
)
def test_rises_are_counted_after_a_fall_to_half(
    sizes: tuple[int, ...], rises: int, trace_of_text: TraceOfText, tmp_path: Path
) -> None:
    lines, live = [], {}
    for number, size in enumerate(sizes):
        if size > 0:
            for part in range(size // 5):
                address = 0x1000 + 0x1000 * number + 16 * part
                live[address] = 5
                lines.append(f"1: malloc {address:#x} 5")
        else:
            for address in list(live)[: -size // 5]:
                del live[address]
                lines.append(f"1: free {address:#x}")
    found = figures_of(trace_of_text(tmp_path, "\n".join(lines) + "\n"))
    assert found.rises == rises


def test_several_inputs_count_together(trace_of_text: TraceOfText, tmp_path: Path) -> None:
    one = figures_of(trace_of_text(tmp_path, CALLS))
    both = together([one, one])
    assert (both.inputs, both.allocations, both.peak_bytes) == (2, 10, 5040)
    assert both.at_peak == {40: 2, 5000: 2}
    assert together([one]) is one


def test_a_trace_without_calls_is_refused(trace_of_text: TraceOfText, tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="no call of malloc"):
        figures_of(trace_of_text(tmp_path, "1: free 0x0\n"))
