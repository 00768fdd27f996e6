# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The user's registry, written to: whole or not at all."""

from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import (
    BrokenAllocator,
    Catalogue,
    ComposedAllocator,
    SystemAllocator,
    UserAllocator,
)
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.compose.installation import check_name, delete, install, staging


def catalogue(folder: Path) -> Catalogue:
    return Catalogue(
        (ComposedAllocator("lea", "h", "t", "c"),),
        (SystemAllocator("glibc", "c"),),
        (),
        (
            UserAllocator("mine", "mine.hpp", "t", "c", folder / "mine"),
            BrokenAllocator("broken", "its library is missing", str(folder / "broken")),
        ),
    )


@pytest.mark.parametrize(
    "name",
    ["", "Lea", "1lea", "-lea", "lea-", "a--b", "a b", "../x", "a/b", "é", "a" * 61, ".hidden"],
)
def test_a_bad_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="is no name for an allocator"):
        check_name(name, catalogue(tmp_path), tmp_path, force=True)


@pytest.mark.parametrize("name", ["lea", "glibc"])
def test_a_name_of_the_catalogue_is_refused_even_with_force(name: str, tmp_path: Path) -> None:
    for force in (False, True):
        with pytest.raises(HeapwrightError, match=f"{name} is in the catalogue already"):
            check_name(name, catalogue(tmp_path), tmp_path, force=force)


def test_an_existing_entry_is_replaced_only_with_force(tmp_path: Path) -> None:
    (tmp_path / "unread").mkdir()
    for name in ("mine", "broken", "unread"):
        with pytest.raises(HeapwrightError, match=f"you have composed {name} already"):
            check_name(name, catalogue(tmp_path), tmp_path, force=False)
        check_name(name, catalogue(tmp_path), tmp_path, force=True)
    check_name("new_one-2", catalogue(tmp_path), tmp_path, force=False)


def make(folder: Path, name: str, text: str, *, force: bool = False) -> Path:
    with staging(folder, name) as made:
        (made / "file").write_text(text)
        return install(made, folder, name, force=force)


def test_a_finished_file_is_moved_to_its_place(tmp_path: Path) -> None:
    place = make(tmp_path / "a" / "b", "mine", "one")
    assert (place / "file").read_text() == "one"
    assert [each.name for each in place.parent.iterdir()] == ["mine"]
    assert make(place.parent, "mine", "two", force=True) == place
    assert (place / "file").read_text() == "two"
    assert [each.name for each in place.parent.iterdir()] == ["mine"]


def test_the_second_of_two_concurrent_creations_fails(tmp_path: Path) -> None:
    make(tmp_path, "mine", "one")
    with pytest.raises(HeapwrightError, match="composed by another process meanwhile"):
        make(tmp_path, "mine", "two")
    assert (tmp_path / "mine" / "file").read_text() == "one"
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("error", [HeapwrightError("no"), KeyboardInterrupt()])
def test_an_error_during_staging_leaves_no_files(error: BaseException, tmp_path: Path) -> None:
    def fail() -> None:
        with staging(tmp_path, "mine") as made:
            (made / "file").touch()
            raise error

    with pytest.raises(type(error)):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_registry_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file" / "allocators", Path("/proc/heapwright")):  # not even by root
        with pytest.raises(HeapwrightError, match=r"your registry .* cannot be written") as raised:
            make(folder, "mine", "")
        assert raised.value.exit_code is ExitCode.NOT_WRITTEN
        assert "HEAPWRIGHT_HOME" in raised.value.hint


def test_delete_refuses_allocators_of_the_catalogue(tmp_path: Path) -> None:
    make(tmp_path, "mine", "one")
    assert delete(tmp_path, "mine", catalogue(tmp_path)) == tmp_path / "mine"
    assert list(tmp_path.iterdir()) == []
    for name in ("lea", "glibc"):
        with pytest.raises(HeapwrightError, match="not yours to delete"):
            delete(tmp_path, name, catalogue(tmp_path))
    for name in ("..", "", "never"):
        with pytest.raises(HeapwrightError, match="you have composed no") as raised:
            delete(tmp_path, name, catalogue(tmp_path))
        assert raised.value.hint == "yours: mine, broken"
    # What the catalogue has taken the name of since is still ones own.
    make(tmp_path, "lea", "one")
    delete(tmp_path, "lea", catalogue(tmp_path))
    assert list(tmp_path.iterdir()) == []
