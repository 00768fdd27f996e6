# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Folded stacks have one line for each chain, and their amounts add up to the whole."""

import pytest

from heapwright.artefacts.profile.calls import Calls
from heapwright.artefacts.stacks.profile import Amount
from heapwright.report.stacks.folded import folded_lines


def test_each_chain_has_its_own_bytes(calls: Calls) -> None:
    assert list(folded_lines(calls, Amount.BYTES)) == [
        "no stack 1100\n",
        "main;keep 10000\n",
        "main;keep;grow:it 50000\n",
        "main;keep;libx.so.1+0xabc 50000\n",
    ]


@pytest.mark.parametrize(
    ("amount", "whole"),
    [
        (Amount.BYTES, 111_100),
        (Amount.ALLOCATIONS, 1110),
        (Amount.AT_PEAK_BYTES, 10_100),
        (Amount.KEPT_BYTES, 1_100),
    ],
)
def test_amounts_add_up_to_the_whole(calls: Calls, amount: Amount, whole: int) -> None:
    amounts = [int(line.rsplit(" ", 1)[1]) for line in folded_lines(calls, amount)]
    assert sum(amounts) == whole
    assert min(amounts) > 0
