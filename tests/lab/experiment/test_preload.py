# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Any path reaches the loader, with any characters in it."""

from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.experiment import preload
from heapwright.experiment.preload import UNSAFE, PreloadPaths


def test_a_plain_path_stays_as_it_is() -> None:
    with PreloadPaths() as paths:
        assert paths.of(Path("/lib/libjemalloc.so.2")) == "/lib/libjemalloc.so.2"


@pytest.mark.parametrize("folder", ["a b", "a:b", "$ORIGIN", "a\tb"])
def test_a_path_that_cannot_be_held_is_linked_to(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    library = tmp_path / folder / "x.so"
    library.write_text("x")
    with PreloadPaths() as paths:
        text = paths.of(library)
        assert not UNSAFE & set(text)
        assert Path(text).samefile(library)
        assert paths.of(library) == text
    assert not Path(text).exists()
    assert library.exists()


def test_two_libraries_of_one_name_have_two_links(tmp_path: Path) -> None:
    with PreloadPaths() as paths:
        assert paths.of(tmp_path / "a b/x.so") != paths.of(tmp_path / "b c/x.so")


def test_a_folder_for_temporary_files_with_a_blank_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "a b"
    bad.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(bad))
    with PreloadPaths() as paths:
        assert not UNSAFE & set(paths.of(bad / "x.so"))
    monkeypatch.setattr(preload, "OTHER_PLACES", (str(tmp_path / "none"),))
    with PreloadPaths() as paths, pytest.raises(HeapwrightError, match="no folder for temporary"):
        paths.of(bad / "x.so")
