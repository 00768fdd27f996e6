# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of one allocator: what its catalogue entry allows, and what is refused."""

from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import BrokenAllocator, UserAllocator, read_catalogue
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.allocator_settings import read_settings
from heapwright.experiment.treatments import Request

CATALOGUE = read_catalogue(Path(__file__).parents[3] / "catalogue" / "allocators.toml")


def read(name: str, *texts: str) -> dict[str, str]:
    settings = read_settings(Request(name), CATALOGUE.find(name), texts)
    assert {each.allocator for each in settings} <= {name}
    return {each.variable: each.value for each in settings}


@pytest.mark.parametrize(
    ("name", "text", "variable", "value"),
    [
        ("granary", "return=2s,guard=1000", "HEAPWRIGHT_GRANARY", "return=2s,guard=1000"),
        ("granary", "HEAPWRIGHT_GRANARY=return=2s", "HEAPWRIGHT_GRANARY", "return=2s"),
        ("hoard", "8", "HEAPWRIGHT_PROCESSORS", "8"),
        ("glibc", "glibc.malloc.mxfast=0", "GLIBC_TUNABLES", "glibc.malloc.mxfast=0"),
        ("glibc", "MALLOC_ARENA_MAX=1", "MALLOC_ARENA_MAX", "1"),
        ("jemalloc", "narenas:1", "MALLOC_CONF", "narenas:1"),
        ("mimalloc", "MIMALLOC_SHOW_STATS=1", "MIMALLOC_SHOW_STATS", "1"),
    ],
)
def test_a_setting_is_a_variable_or_the_value_of_the_one_for_all(
    name: str, text: str, variable: str, value: str
) -> None:
    assert read(name, text) == {variable: value}


@pytest.mark.parametrize(
    ("name", "texts", "message", "hint"),
    [
        ("lea", ["a=1"], "lea has no settings that heapwright knows", "run -a lea --"),
        ("granary", ["LD_PRELOAD=x"], "does not read LD_PRELOAD", "it reads HEAPWRIGHT_GRANARY"),
        ("mimalloc", ["purge_delay=0"], "no variable with all settings", "one of MIMALLOC_*"),
        ("granary", ["return=2s", "guard=9"], "gives HEAPWRIGHT_GRANARY twice", "one --set"),
    ],
)
def test_other_settings_are_refused(name: str, texts: list[str], message: str, hint: str) -> None:
    with pytest.raises(HeapwrightError) as caught:
        read(name, *texts)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_tunables_may_be_repeated_because_they_are_merged() -> None:
    texts = ["glibc.malloc.mxfast=0", "glibc.malloc.arena_max=1"]
    settings = read_settings(Request("glibc"), CATALOGUE.find("glibc"), texts)
    assert [each.value for each in settings] == texts


def test_only_an_entry_of_the_catalogue_has_settings() -> None:
    by_path = Request("granary", "build/granary.so")
    broken = BrokenAllocator("granary", "its library is missing", "folder")
    for request, entry in (
        (by_path, CATALOGUE.find("granary")),
        (Request("mine", "mine.so"), None),
        (Request("granary"), broken),
    ):
        with pytest.raises(HeapwrightError, match="no settings that heapwright knows"):
            read_settings(request, entry, ["return=2s"])


def test_a_composition_of_the_user_has_the_settings_of_granary_if_it_offers_them() -> None:
    def composed(*points: str) -> UserAllocator:
        return UserAllocator("mine", "m.hpp", "M", "", Path(), entry_points=points)

    settings = read_settings(Request("mine"), composed("signals", "granary"), ["return=2s"])
    assert settings[0].variable == "HEAPWRIGHT_GRANARY"
    with pytest.raises(HeapwrightError, match="no settings"):
        read_settings(Request("mine"), composed("signals"), ["return=2s"])
