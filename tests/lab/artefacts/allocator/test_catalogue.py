# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The registry is read whole or refused with the entry's name."""

from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import PeerAllocator, SystemAllocator, read_catalogue
from heapwright.base.errors import HeapwrightError

OWN = Path(__file__).parents[4] / "catalogue" / "allocators.toml"

COMPOSED = """
[[composed]]
name = "lea"
header = "include/heapwright/allocators/lea.hpp"
type = "heapwright::allocators::Lea"
caption = "c"
"""


def refused(folder: Path, text: str) -> str:
    path = folder / "catalogue.toml"
    path.write_text(text)
    with pytest.raises(HeapwrightError) as caught:
        read_catalogue(path)
    return caught.value.message


def test_the_registry_of_the_project_is_read_in_its_order() -> None:
    catalogue = read_catalogue(OWN)
    assert catalogue.names[: len(catalogue.composed)] == tuple(e.name for e in catalogue.composed)
    assert {"lea", "kingsley", "kingsley-coalescing", "glibc", "jemalloc"} <= set(catalogue.names)


def test_each_kind_has_its_own_fields() -> None:
    catalogue = read_catalogue(OWN)
    assert catalogue.composed[0].library == f"libheapwright-{catalogue.composed[0].name}.so"
    bare = catalogue.find("glibc-no-tcache")
    assert isinstance(bare, SystemAllocator)
    assert dict(bare.environment) == {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    peer = catalogue.find("jemalloc")
    assert isinstance(peer, PeerAllocator)
    assert peer.sonames == ("libjemalloc.so.2",)
    assert catalogue.find("nothing") is None


def test_groups_are_of_the_file_and_everything() -> None:
    catalogue = read_catalogue(OWN)
    assert catalogue.group("all") == catalogue.names
    assert set(catalogue.group("kernel") or ()) == {"slab", "slob", "slub", "slqb"}
    assert "granary" in (catalogue.group("default") or ())
    assert catalogue.group("nothing") is None


def test_each_composition_is_in_a_group() -> None:
    catalogue = read_catalogue(OWN)
    grouped = {name for group in catalogue.groups.values() for name in group}
    alone = {
        "granary-hardened",
        "granary-strict",
        "hardened-malloc",
        "hardened-malloc-light",
        "scudo",
    }
    assert set(catalogue.names) - grouped == alone


def test_a_composition_may_offer_more_than_malloc(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.toml"
    path.write_text(COMPOSED + 'entry_points = ["signals", "granary"]\n')
    assert read_catalogue(path).composed[0].entry_points == ("signals", "granary")
    path.write_text(COMPOSED)
    assert read_catalogue(path).composed[0].entry_points == ()


def test_settings_are_variables(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.toml"
    path.write_text(COMPOSED + 'settings = ["HEAPWRIGHT_LEA", "LEA_*"]\n')
    assert read_catalogue(path).composed[0].settings == ("HEAPWRIGHT_LEA", "LEA_*")
    settings = {entry.name: entry.settings for entry in read_catalogue(OWN)}
    assert settings["granary"] == ("HEAPWRIGHT_GRANARY",)
    assert settings["glibc"] == ("GLIBC_TUNABLES", "MALLOC_*")
    assert settings["lea"] == settings["rpmalloc"] == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[[composed]\n", "not a TOML file"),
        ('[groups]\nfew = ["lea", "nothing"]\n' + COMPOSED, "'few' must be a list of registered"),
        ('[groups]\nlea = ["lea"]\n' + COMPOSED, "'lea' has the name of something else"),
        ("[[compsed]]\n", "unknown section compsed"),
        ("composed = 3\n", "write [[composed]]"),
        ("[[composed]]\nheader = 'x'\n", "entry 1: name must be a text"),
        (COMPOSED + "size = 3\n", "'lea': unknown key size"),
        (COMPOSED.replace('caption = "c"', "caption = 4"), "'lea': caption must be a text"),
        (COMPOSED + 'entry_points = ["a/b"]\n', "'lea': entry_points must be names of files"),
        (COMPOSED + "entry_points = 'a'\n", "'lea': entry_points must be a list"),
        (COMPOSED + 'settings = ["a b"]\n', "'lea': settings must hold names of variables"),
        (COMPOSED + COMPOSED, "'lea' is registered twice"),
        ('[[peer]]\nname = "p"\nsonames = []\n', "'p': sonames must be a list that is not empty"),
        ('[[peer]]\nname = "p"\nsonames = [1]\n', "'p': sonames must hold texts only"),
        ('[[system]]\nname = "s"\ncaption = "c"\nenvironment = { A = 1 }\n', "a table of texts"),
    ],
)
def test_errors_are_named(tmp_path: Path, text: str, what: str) -> None:
    assert what in refused(tmp_path, text)


def test_a_missing_registry_reports_it(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="cannot be read"):
        read_catalogue(tmp_path / "none.toml")
