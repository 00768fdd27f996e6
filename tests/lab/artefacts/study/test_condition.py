# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions between factors: what they mean, and that they can do nothing else."""

import pytest

from heapwright.artefacts.study.condition import ConditionError, parse_condition
from heapwright.artefacts.study.factor import Level

LEVELS = {
    "threads": Level("4", 4),
    "cpus": Level("2", 2),
    "share": Level("0.5", 0.5),
    "pattern": Level("peak", "peak"),
    "pinned": Level("true", True),
    "size": Level("16..64", 40, {"low": 16, "high": 64}),
    "kind": Level("mine", None, {"fast": True}),
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("threads >= cpus", True),
        ("threads < cpus or pinned", True),
        ("not (threads > cpus) and pinned", False),
        ("1 < cpus < threads < 5", True),
        ("1 < threads < cpus", False),
        ("size.low * threads == size.high", True),
        ("size == 40 and size.name == '16..64'", True),
        ("kind == 'mine' and kind.fast == true", True),
        ("pattern in ['growing', 'peak']", True),
        ("threads not in (1, 2)", True),
        ("threads in []", False),
        ("threads / cpus + 1 - -1 == 4.0", True),
        ("7 // cpus == 3 and 7 % cpus == 1", True),
        ("share != 0.25", True),
        ("false or False or not True", False),
    ],
)
def test_conditions_select_runs(text: str, holds: bool) -> None:
    assert parse_condition(text).holds(LEVELS) is holds


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "threads.bit_length()",
        "(threads).real.imag",
        "[x for x in (1,)]",
        "threads[0]",
        "threads ** 999999999",
        "threads << 99",
        "lambda: 1",
        "f'{threads}'",
        "threads is cpus",
        "threads if cpus else 1",
        "(a := 1)",
        "{1: 2}",
        "b'x' == 1",
        "None",
        "1j",
        "*threads,",
    ],
)
def test_nothing_else_is_understood(text: str) -> None:
    with pytest.raises(ConditionError):
        parse_condition(text)


@pytest.mark.parametrize(
    "text", ["threads >=", "a b", "", "threads >= 1; cpus", "(" * 300, "1" * 9999]
)
def test_an_unreadable_file_is_reported(text: str) -> None:
    with pytest.raises(ConditionError, match=r"cannot be read|at most"):
        parse_condition(text)


def test_a_long_sum_is_no_stack_overflow() -> None:
    text = "threads" + "+1" * 900 + " > 0"
    try:
        assert parse_condition(text).holds(LEVELS)
    except ConditionError as error:
        assert "cannot be" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("threads == '4'", "not of a kind"),
        ("pattern < 3", "not of a kind"),
        ("threads in ['4']", "not of a kind"),
        ("threads in pattern", "no list"),
        ("pattern + 1 > 2", "no number"),
        ("pinned + 1 > 2", "no number"),
        ("not threads", "neither true nor false"),
        ("threads and pinned", "neither true nor false"),
        ("threads", "neither true nor false"),
        ("threads / 0 > 1", "division by zero"),
    ],
)
def test_an_undecidable_condition_is_an_error_and_not_false(text: str, why: str) -> None:
    with pytest.raises(ConditionError, match=why):
        parse_condition(text).holds(LEVELS)


def test_the_names_of_a_condition() -> None:
    condition = parse_condition("size.low < threads and threads in [1, cpus] or true")
    assert [place.text for place in condition.names] == ["size.low", "threads", "threads", "cpus"]
    assert condition.factors == ("size", "threads", "cpus")
