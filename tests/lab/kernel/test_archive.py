# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The archive is what cpio reads, and the same bytes each time."""

import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.kernel.archive import character, compressed, cpio, folder, link, regular

ENTRIES = {
    "init": regular(b"#!/bin/sh\n"),
    "dev/console": character(5, 1),
    "lib/deep/name": regular(b"12345", 0o644),
    "bin": link("usr/bin"),
    "tmp": folder(0o700),
}


def test_the_order_of_the_entries_does_not_matter() -> None:
    turned = dict(reversed(ENTRIES.items()))
    assert cpio(ENTRIES) == cpio(turned)
    assert compressed(cpio(ENTRIES)) == compressed(cpio(turned))


def test_headers_have_the_form_newc_and_everything_is_filled_up_to_four() -> None:
    archive = cpio({"a": regular(b"xyz", 0o600)})
    assert len(archive) % 4 == 0
    numbers = [archive[6 + 8 * at : 14 + 8 * at] for at in range(13)]
    assert archive[:6] == b"070701"
    assert [int(each, 16) for each in numbers] == [1, 0o100600, 0, 0, 1, 0, 3, 0, 0, 0, 0, 2, 0]
    assert archive[110:112] == b"a\0"
    assert archive[112:116] == b"xyz\0"
    assert b"TRAILER!!!\0" in archive[116:]


def test_folders_on_the_way_stand_before_what_is_in_them() -> None:
    archive = cpio(ENTRIES)
    assert (
        archive.index(b"lib\0") < archive.index(b"lib/deep\0") < archive.index(b"lib/deep/name\0")
    )


def test_cpio_reads_it(tmp_path: Path) -> None:
    program = shutil.which("cpio") or pytest.skip("no cpio (package cpio)")
    plain = {name: entry for name, entry in ENTRIES.items() if name != "dev/console"}
    done = subprocess.run(
        [program, "-idm", "--quiet"],
        input=cpio(plain),
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert not done.stderr
    assert (tmp_path / "lib/deep/name").read_bytes() == b"12345"
    assert (tmp_path / "bin").readlink() == Path("usr/bin")
    assert (tmp_path / "init").stat().st_mode & 0o777 == 0o755
