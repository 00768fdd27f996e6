# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A file for speedscope has a profile for each amount, whose weights add up to the total."""

import json
from typing import Any

from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.report.stacks.speedscope import speedscope_of


def document(stacks: StackProfile) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(speedscope_of(stacks))
    return found


def test_each_amount_is_a_profile(stacks: StackProfile) -> None:
    profiles = {each["name"]: each for each in document(stacks)["profiles"]}
    assert next(iter(profiles)) == "live at the peak, bytes"
    for amount in Amount:
        each = profiles[stacks.words(amount)]
        assert sum(each["weights"]) == each["endValue"] == stacks.total(amount)
        assert len(each["weights"]) == len(each["samples"])
        assert each["unit"] == ("bytes" if amount.is_memory else "none")


def test_stacks_begin_with_their_outermost_function(stacks: StackProfile) -> None:
    found = document(stacks)
    frames = found["shared"]["frames"]
    whole = next(each for each in found["profiles"] if each["name"] == "all allocations, bytes")
    names = [[frames[place]["name"] for place in stack] for stack in whole["samples"]]
    assert names == [
        ["no stack"],
        ["main", "keep"],
        ["main", "keep", "grow;it"],
        ["main", "keep", "grow;it"],
        ["main", "keep", "libx.so.1+0xabc"],
    ]
    assert frames[1] == {"name": "main", "file": "program.c", "line": 9}
