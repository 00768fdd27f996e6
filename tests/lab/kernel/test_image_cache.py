# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel is in the cache whole or not at all."""

import json
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.image_cache import CARD, MADE, every, find, key_of, store

KEY = key_of("slub", "6.1.1-1", "0123456789abcdef0123")


def made(folder: Path, content: bytes = b"image") -> Path:
    image = folder / "made" / MADE
    image.parent.mkdir(parents=True, exist_ok=True)
    image.write_bytes(content)
    (folder / "made" / ".config").write_text("CONFIG_SLUB=y\n", encoding="utf-8")
    return folder / "made"


def test_the_key_names_allocator_version_and_configuration() -> None:
    assert KEY == "slub-6.1.1-1-0123456789abcdef"


def test_stored_documents_are_found(tmp_path: Path) -> None:
    built = store(KEY, "slub", "6.1.1-1", made(tmp_path), tmp_path)
    assert find(KEY, tmp_path) == built
    assert list(every(tmp_path)) == [built]
    assert built.image.read_bytes() == b"image"


def test_an_image_that_is_not_what_was_stored_is_no_kernel(tmp_path: Path) -> None:
    built = store(KEY, "slub", "6.1.1-1", made(tmp_path), tmp_path)
    built.image.write_bytes(b"imag")
    assert find(KEY, tmp_path) is None
    assert not list(every(tmp_path))


def test_a_folder_without_its_card_is_no_kernel(tmp_path: Path) -> None:
    built = store(KEY, "slub", "6.1.1-1", made(tmp_path), tmp_path)
    (built.folder / CARD).write_text(json.dumps({"key": KEY}), encoding="utf-8")
    assert find(KEY, tmp_path) is None


def test_nothing_is_stored_where_make_left_no_image(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="make left no"):
        store(KEY, "slub", "6.1.1-1", tmp_path / "made", tmp_path)
    assert not (tmp_path / "built").exists()


def test_a_later_build_replaces_an_earlier_one(tmp_path: Path) -> None:
    store(KEY, "slub", "6.1.1-1", made(tmp_path), tmp_path)
    again = store(KEY, "slub", "6.1.1-1", made(tmp_path, b"later"), tmp_path)
    assert find(KEY, tmp_path) == again
    assert again.image.read_bytes() == b"later"
