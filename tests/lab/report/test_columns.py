# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Columns line up where they fit, and become short lines where they do not."""

from io import StringIO

from rich.table import Table

from heapwright.report.columns import Columns, Entries
from heapwright.report.console import make_console

TABLE = Columns(("", "one", "other"), [("first", "1", "22"), ("the second", "", "3")])
ENTRIES = Entries([("name", "a text of several words that is long"), ("other", "")])


def shown(what: Columns | Entries, width: int) -> list[str]:
    stream = StringIO()
    make_console(stream, width=width).print(what)
    return stream.getvalue().splitlines()


def test_figures_end_flush() -> None:
    assert shown(TABLE, 40) == [
        "            one  other",
        "first         1     22",
        "the second           3",
    ]


def test_narrow_tables_are_short_lines_without_empty_ones() -> None:
    assert shown(TABLE, 16) == ["first", "  one: 1", "  other: 22", "the second", "  other: 3"]


def test_texts_stand_beside_their_names_or_below() -> None:
    assert shown(ENTRIES, 38) == [
        "name   a text of several words that is",
        "       long",
        "other",
    ]
    assert shown(ENTRIES, 24) == ["name", "  a text of several", "  words that is long", "other"]


def test_no_line_of_a_pipe_ends_with_blanks() -> None:
    stream = StringIO()
    table = Table("name", "what", box=None, padding=(0, 2, 0, 0))
    table.add_row("a", "x")
    table.add_row("b", "a long text")
    make_console(stream).print(table)
    assert [line for line in stream.getvalue().splitlines() if line != line.rstrip()] == []
