# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An explanation on terminals of any width."""

from io import StringIO

import pytest

from heapwright.artefacts.explanation.document import Culprit, Ending, Explanation, Kind, Moment
from heapwright.report.console import make_console
from heapwright.report.explanation import print_explanation

MIB = 1 << 20


def found() -> Explanation:
    return Explanation(
        command=("program",),
        kind=Kind.GROWTH,
        sentence="Growth: it grew.",
        ending=Ending.EXITED,
        allocator="glibc",
        rise_bytes=40 * MIB,
        never_freed_bytes=1,
        never_freed_blocks=1,
        held_share=0.1,
        most_held_bytes=MIB,
        reachability=None,
        culprits=(Culprit(frames=("operator[](int)", "main [abi:x]"), blocks=1, bytes=2000),),
        setting=None,
        moments=tuple(
            Moment(
                time_s=float(at),
                live_bytes=at * MIB,
                waste_bytes=1000 * at,
                held_bytes=5000 * at,
                other_bytes=MIB,
                resident_bytes=(at + 2) * MIB,
            )
            for at in range(40)
        ),
    )


def shown(width: int | None) -> list[str]:
    stream = StringIO()
    print_explanation(make_console(stream, width=width), found())
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 200, None])
def test_the_table_fits(width: int | None) -> None:
    table = shown(width)[: 1 + 12]
    assert table[0].split()[:2] == ["time", "live"]
    assert "resident" in table[0]
    assert len(table) == 13
    assert not any("…" in line for line in table), "nothing is cut"
    assert all(len(line.rstrip()) <= (width or 200) for line in table)
    assert all("s  " in line for line in table[1:]), "no line is folded"
    assert ("other" in table[0]) == (width != 40)


def test_the_bar_is_of_what_is_live_and_of_all_else() -> None:
    last = shown(None)[12].split()[-1]
    assert len(last) == 40
    assert set(last) == {"#", "."}
    assert last.count("#") == 39


def test_a_place_is_printed_as_it_is() -> None:
    lines = shown(60)
    assert "  2.0 KiB in 1 block" in lines
    assert "      operator[](int)" in lines
    assert "      main [abi:x]" in lines


def test_the_calls_of_a_place_are_those_of_the_program_itself() -> None:
    frames = ("operator new(unsigned long)", "keep (a.cpp:3)", "main (a.cpp:9)", "_start")
    grew = Culprit(frames=frames, blocks=0, bytes=2048, kind=Kind.GROWTH)
    stream = StringIO()
    growth = Explanation(kind=Kind.GROWTH, sentence="Growth.", culprits=(grew,))
    print_explanation(make_console(stream), growth)
    assert stream.getvalue().splitlines() == [
        "Growth.",
        "  growth: 2.0 KiB, most of it freed at the end",
        "      keep (a.cpp:3)",
        "      main (a.cpp:9)",
    ]


def test_two_places_with_the_same_calls_are_distinguished() -> None:
    own = ("keep (a.cpp:3)", "main (a.cpp:9)")
    places = [
        Culprit(frames=(*library, *own), blocks=1, bytes=size, place=own[0])
        for library, size in (
            (("malloc",), 8),
            (("operator new(unsigned long)",), 7),
            (("operator new(unsigned long)",), 6),
        )
    ]
    stream = StringIO()
    leak = Explanation(kind=Kind.LEAK, sentence="Leak.", culprits=tuple(places))
    print_explanation(make_console(stream), leak)
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert lines[1:3] == ["8 B in 1 block", "malloc"]
    assert lines[5:7] == ["7 B in 1 block", "operator new(unsigned long)"]
    assert lines[9] == "(call 1 of 2 on these lines)"
    assert lines[-1] == "(call 2 of 2 on these lines)"


def test_the_sentence_is_wrapped_to_the_terminal() -> None:
    lines = shown(40)
    assert max(map(len, lines)) <= 40
    assert found().sentence in " ".join(" ".join(lines).split())
    assert found().sentence in shown(None)
