# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Load files: those that come with heapwright, and what is said of wrong ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.artefacts.kernelsim.load import Lifetime
from heapwright.artefacts.kernelsim.load_file import LoadFile, changed, read_load
from heapwright.base.errors import HeapwrightError

ROOT = Path(__file__).parents[4]
LOADS = sorted((ROOT / "catalogue" / "loads").glob("*.toml"))
WHOLE = """\
format = 1
name = "mine"
title = "a load"
operations = 100

[cache.inode]
size = 600

[[activity]]
name = "one"
weight = 1
life = { mean = 5 }
parts = [{ cache = "inode" }, { bytes = [8, 16], life = "end" }]
"""


def read(tmp_path: Path, text: str) -> LoadFile:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return read_load(file, "mine.toml")


@pytest.mark.parametrize("path", LOADS, ids=lambda path: path.stem)
def test_every_shipped_load_is_valid(path: Path) -> None:
    load = read_load(path).load
    assert load.name == path.stem
    assert load.title


def test_a_load_is_read(tmp_path: Path) -> None:
    load = read(tmp_path, WHOLE).load
    assert load.cache["inode"].size == 600
    assert load.activity[0].life == Lifetime(mean=5)
    assert load.activity[0].parts[1].bytes_ == (8, 16)
    assert load.memory == 128
    assert changed(load, {"operations": 7}).operations == 7
    with pytest.raises(HeapwrightError, match="operations"):
        changed(load, {"operations": 0})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format = 1", "format = 2", "mine.toml:1: format: format 2"),
        ("size = 600", "size = 4", "mine.toml:7: cache.inode.size: must be greater"),
        ("size = 600", "size = 600\nalign = 24", "a power of two"),
        ("size = 600", "sise = 600", "mine.toml:7: cache.inode.sise"),
        ('cache = "inode"', 'cache = "inoed"', "mine.toml:13: activity.1.parts.1.cache: there is"),
        ("weight = 1", "weight = 0", "no activity has a weight"),
        ("[8, 16]", "[16, 8]", "the first number of bytes"),
        ("{ mean = 5 }", "{ mean = 5, between = [1, 2] }", "a mean, or two numbers"),
        ("{ mean = 5 }", "{ between = [2, 1] }", "the first number of between"),
        ('cache = "inode"', 'cache = "inode", bytes = 8', "one of cache, bytes and pages"),
        ('cache = "inode"', 'cache = "inode", mobility = "movable"', "mobility is for pages"),
        ("operations = 100", "operations = 0", "mine.toml:4: operations"),
        ("operations = 100", "", "operations: is missing"),
        ("[cache.inode]", '[cache."a b"]', "no blanks"),
        ("format = 1", "format = ", "this is not TOML"),
    ],
)
def test_errors_are_reported_with_their_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(HeapwrightError) as caught:
        read(tmp_path, WHOLE.replace(old, new))
    assert said in f"{caught.value.message}\n{caught.value.hint}"


def test_a_path_that_is_no_file_is_reported(tmp_path: Path) -> None:
    for name in ("nowhere.toml", "."):
        with pytest.raises(HeapwrightError, match="cannot be read"):
            read_load(tmp_path / name)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HeapwrightError, match="no text in UTF-8"):
        read_load(binary)


@given(at=st.integers(0, len(WHOLE) - 1), cut=st.integers(0, 30), new=st.text(max_size=8))
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, cut: int, new: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.toml"
    file.write_bytes((WHOLE[:at] + new + WHOLE[at + cut :]).encode("utf-8", "surrogatepass"))
    said = "damaged.toml"
    try:
        whole = read_load(file).load.format == 1
    except HeapwrightError as error:
        said, whole = error.message, True
    assert whole
    assert "damaged.toml" in said
