# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The taxonomy on terminals of any width."""

from io import StringIO

import pytest

from heapwright.artefacts.taxonomy.document import Taxonomy
from heapwright.report.console import make_console
from heapwright.report.taxonomy.table import print_table


def printed(document: Taxonomy, width: int | None = None, *, quiet: bool = False) -> str:
    stream = StringIO()
    print_table(make_console(stream, width=width), document, quiet=quiet)
    return stream.getvalue()


def test_judgements_figures_and_marks(document: Taxonomy) -> None:
    lines = printed(document).splitlines()
    assert lines[0].split()[:3] == ["Allocator", "Fast", "Scalable"]
    good, nothing, bad = (line.split("  ") for line in lines[1:4])
    assert [cell.strip() for cell in good if cell][:5] == [
        "good",
        "yes",
        "yes",
        "none but larson",
        "none",
    ]
    assert [cell.strip() for cell in nothing if cell][:5] == ["nothing", "?", "?", "?", "?"]
    assert "no*" in lines[3]
    assert "active, passive" in lines[3]
    assert any("unbounded" in cell for cell in bad)
    assert "2.00 (1.80 to 2.20)" in lines[1]


def test_the_notes_follow_the_table(document: Taxonomy) -> None:
    text = printed(document)
    assert "bad<b>, fast: measured no, published yes (A book). It is old." in text
    assert "nothing: producer-consumer with 2 threads (time) ended as crashed: killed by" in text
    assert "last words" not in text
    assert "8 of 9 runs, seed 7. Stopped: it was interrupted." in text
    assert "- a note" in text


def test_quiet_is_the_table_alone(document: Taxonomy) -> None:
    assert len(printed(document, quiet=True).splitlines()) == 4


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(
    document: Taxonomy, width: int
) -> None:
    text = printed(document, width)
    assert max(map(len, text.splitlines())) <= width
    for word in ("good", "unbounded", "larson", "1.90"):
        assert word in "".join(text.split())


def test_no_colour_in_a_pipe(document: Taxonomy) -> None:
    assert "\x1b" not in printed(document)
