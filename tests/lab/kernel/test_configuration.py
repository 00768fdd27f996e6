# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Fragments are read, hashed by what they ask for, and a symbol that is dropped is named."""

from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.configuration import (
    check_configuration,
    configuration_hash,
    defined_symbols,
    parse_symbols,
    read_fragment,
    read_fragments,
)
from heapwright.kernel.folders import ALLOCATORS, shipped
from heapwright.kernel.patch import PATCHED


def written(folder: Path, text: str) -> Path:
    path = folder / "some.config"
    path.write_text(text, encoding="utf-8")
    return path


def test_symbols_have_values_or_are_off() -> None:
    text = '# a word\nCONFIG_A=y\nCONFIG_NAME="x y"\n# CONFIG_B is not set\n'
    assert parse_symbols(text) == {"A": "y", "NAME": '"x y"', "B": "n"}


def test_a_line_that_is_no_symbol_is_refused_with_its_number(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match=r"some\.config:2: 'CONFIG B'"):
        read_fragment(written(tmp_path, "CONFIG_A=y\nCONFIG B\n"))


def test_a_symbol_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="CONFIG_A stands there already"):
        read_fragment(written(tmp_path, "CONFIG_A=y\n# CONFIG_A is not set\n"))


def test_the_hash_is_that_of_what_is_asked_for(tmp_path: Path) -> None:
    one = read_fragment(written(tmp_path, "CONFIG_A=y\nCONFIG_B=y\n"))
    same = read_fragment(written(tmp_path, "# why\nCONFIG_B=y\n\nCONFIG_A=y\n"))
    other = read_fragment(written(tmp_path, "CONFIG_A=y\n# CONFIG_B is not set\n"))
    assert configuration_hash([one]) == configuration_hash([same])
    assert configuration_hash([one]) != configuration_hash([other])


def test_a_dropped_symbol_is_named_with_file_and_line(tmp_path: Path) -> None:
    fragment = read_fragment(written(tmp_path, "CONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\n"))
    known = frozenset("ABC")
    check_configuration([fragment], "CONFIG_A=y\nCONFIG_B=y\n", known)
    with pytest.raises(HeapwrightError, match=r"some\.config:2: CONFIG_B=y was dropped, it is n"):
        check_configuration([fragment], "CONFIG_A=y\n# CONFIG_B is not set\n", known)
    with pytest.raises(HeapwrightError, match="CONFIG_C=n was dropped, it is y"):
        check_configuration([fragment], "CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=y\n", known)


def test_a_symbol_that_the_source_does_not_know_is_named_though_it_is_off(tmp_path: Path) -> None:
    fragment = read_fragment(written(tmp_path, "# CONFIG_GONE is not set\n"))
    with pytest.raises(HeapwrightError, match="this kernel knows no CONFIG_GONE"):
        check_configuration([fragment], "CONFIG_A=y\n", frozenset("A"))


def test_symbols_are_found_in_all_kconfig_files(tmp_path: Path) -> None:
    (tmp_path / "mm").mkdir()
    (tmp_path / "Kconfig").write_text("menuconfig NET\n\tbool\n", encoding="utf-8")
    (tmp_path / "mm" / "Kconfig.debug").write_text("  config SLUB_DEBUG\n", encoding="utf-8")
    assert defined_symbols(tmp_path) == {"NET", "SLUB_DEBUG"}


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_our_fragments_ask_for_their_allocator_and_against_the_others(allocator: str) -> None:
    """A source without the patch does not know its allocator, so only its own fragment names it."""
    _, own = read_fragments(shipped(), allocator)
    asked = {name: own.symbols[name.upper()] for name in ALLOCATORS if name.upper() in own.symbols}
    named = [name for name in ALLOCATORS if name not in PATCHED or name == allocator]
    assert asked == {name: "y" if name == allocator else "n" for name in named}
