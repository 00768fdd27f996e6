# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Folded stacks have one line for each chain, and their amounts add up to the whole."""

import pytest

from heapwright.artefacts.profile.calls import Calls
from heapwright.artefacts.profile.measure import Measure
from heapwright.report.stacks.folded import folded_lines


def test_each_chain_has_its_own_bytes(calls: Calls) -> None:
    assert list(folded_lines(calls, Measure.BYTES)) == [
        "no stack 1100\n",
        "main;keep 10000\n",
        "main;keep;grow:it 50000\n",
        "main;keep;libx.so.1+0xabc 50000\n",
    ]


@pytest.mark.parametrize(
    ("measure", "whole"),
    [
        (Measure.BYTES, 111_100),
        (Measure.CALLS, 1110),
        (Measure.PEAK, 10_100),
        (Measure.NEVER_FREED, 1_100),
    ],
)
def test_amounts_add_up_to_the_whole(calls: Calls, measure: Measure, whole: int) -> None:
    amounts = [int(line.rsplit(" ", 1)[1]) for line in folded_lines(calls, measure)]
    assert sum(amounts) == whole
    assert min(amounts) > 0
