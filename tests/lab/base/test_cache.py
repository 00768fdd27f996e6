# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Texts of the cache folder are made once for each key, and again where they cannot be kept."""

from pathlib import Path

from heapwright.base.cache import cache_home, cached


def test_a_text_is_made_once_for_each_key(tmp_path: Path) -> None:
    made: list[str] = []

    def make() -> str:
        made.append("text äöü")
        return made[-1]

    folder = tmp_path / "cache" / "pages"
    assert [cached(folder, key, make) for key in ("one", "one", "two")] == ["text äöü"] * 3
    assert len(made) == 2
    assert len(list(folder.iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert cached(tmp_path / "file" / "pages", "key", lambda: "text") == "text"
    assert cached(Path("/proc/pages"), "key", lambda: "text") == "text"


def test_the_folder_follows_the_environment() -> None:
    assert cache_home({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/heapwright")
    assert cache_home({"XDG_CACHE_HOME": "c", "HOME": "/h"}) == Path("/h/.cache/heapwright")
