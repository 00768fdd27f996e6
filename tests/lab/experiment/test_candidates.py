# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Named commands and parameters: how they are read, crossed, and what is refused."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.candidates import (
    AS_IT_IS,
    MOST_TREATMENTS,
    NamedCommand,
    crossed,
    notes_on_twins,
    notes_on_words,
    parse_commands,
    parse_parameters,
)
from heapwright.experiment.treatments import Treatment

GLIBC = Treatment(Allocator(name="glibc", kind=Kind.SYSTEM))
TUNED = Treatment(Allocator(name="glibc", kind=Kind.SYSTEM), "A=1", {"A": "1"})


def test_a_command_is_split_like_in_a_shell() -> None:
    assert parse_commands(["old=./a 'in put' --x=1", "my new one=b"]) == [
        NamedCommand("old", ("./a", "in put", "--x=1")),
        NamedCommand("my new one", ("b",)),
    ]


@pytest.mark.parametrize("text", ["./a", "=./a", "a,b=./a", "a[1]=./a", " =x", "old=", "old='./a"])
def test_an_unnamed_command_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(HeapwrightError) as refusal:
        parse_commands([text])
    assert refusal.value.hint


def test_two_commands_of_one_name_are_refused() -> None:
    with pytest.raises(HeapwrightError, match="two commands are called 'a'"):
        parse_commands(["a=./x", "a=./y"])


def test_parameters_have_several_values() -> None:
    assert parse_parameters(["threads=1,2, 4", "size=a b"]) == {
        "threads": ("1", "2", "4"),
        "size": ("a b",),
    }


@pytest.mark.parametrize("text", ["threads", "=1", "threads=", "threads=1,,2", "a b=1", "t=1,1"])
def test_an_unknown_parameter_is_refused(text: str) -> None:
    with pytest.raises(HeapwrightError):
        parse_parameters([text])


def test_a_parameter_is_given_once() -> None:
    with pytest.raises(HeapwrightError, match="given twice"):
        parse_parameters(["t=1", "t=2"])


def test_everything_is_crossed_level_by_level() -> None:
    commands = parse_commands(["old=./a {t}", "new=./b -t{t} {other} {{t}}"])
    found = crossed([GLIBC, TUNED], commands, parse_parameters(["t=1,2 3"]))
    assert [each.level for each in found] == [
        "old, t=1", "new, t=1", "old, A=1, t=1", "new, A=1, t=1",
        "old, t=2 3", "new, t=2 3", "old, A=1, t=2 3", "new, A=1, t=2 3",
    ]  # fmt: skip
    assert found[0].command == ("./a", "1")
    assert found[5].command == ("./b", "-t2 3", "{other}", "{2 3}")
    assert found[2].environment == {"A": "1"}
    assert found[4].levels == {"t": "2 3"}
    assert len({each.key for each in found}) == len(found)


def test_a_parameter_that_no_command_has_is_refused() -> None:
    with pytest.raises(HeapwrightError, match=r"no command has \{t\}"):
        crossed([GLIBC], [NamedCommand("", ("./a", "t"))], {"t": ("1", "2")})


def test_too_many_candidates_are_refused() -> None:
    values = tuple(map(str, range(MOST_TREATMENTS + 1)))
    with pytest.raises(HeapwrightError, match="too many"):
        crossed([GLIBC], [NamedCommand("", ("{t}",))], {"t": values})


def test_a_command_as_it_is_has_no_allocator_and_no_preload() -> None:
    (only,) = crossed([AS_IT_IS], [NamedCommand("old", ("x",))], {})
    assert only.key == ("", "old")
    assert only.preload is None
    assert not only.proven


def test_shell_syntax_that_no_shell_reads_is_noted() -> None:
    (note,) = notes_on_words(parse_commands(["a=./x | sort", "b=sh -c './x | sort'"]))
    assert note.startswith("a: | goes to the program as a word")


def test_two_names_for_one_command_are_noted(tmp_path: Path) -> None:
    program = tmp_path / "a"
    program.write_text("same")
    copy = tmp_path / "b"
    copy.write_text("same")
    other = tmp_path / "c"
    other.write_text("other")
    commands = parse_commands(["a=./a 1", "b=./b 1", "c=./c 1", "d=./a 2", "e=./a 1"])
    programs = {"a": program, "b": copy, "c": other, "d": program, "e": program}
    copied, same, _ = notes_on_twins(commands, programs, [])
    assert copied.startswith(f"a and b run files of equal content ({program} and {copy})")
    assert same.startswith("a and e are the same command (./a 1)")


def test_two_names_for_one_library_are_noted_unless_they_are_set_up_differently(
    tmp_path: Path,
) -> None:
    library = tmp_path / "libx.so"
    library.write_text("x")
    link = tmp_path / "liby.so"
    link.symlink_to(library)

    def allocator(name: str, path: Path, **environment: str) -> Allocator:
        return Allocator(name=name, kind=Kind.FILE, path=str(path), environment=environment)

    same = [allocator("x", library), allocator("y", link)]
    (note,) = notes_on_twins([], {}, same)
    assert note == f"x and y are the same library ({library}): leave one out of -a"
    copy = tmp_path / "copy.so"
    copy.write_text("x")
    (note,) = notes_on_twins([], {}, [same[0], allocator("c", copy)])
    assert note.startswith(f"x and c are libraries of equal content ({library} and {copy})")
    assert not notes_on_twins([], {}, [same[0], allocator("z", link, A="1")])
