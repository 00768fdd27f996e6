# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of the catalogue are read strictly, and values are checked before any run."""

from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.artefacts.allocator.settings import (
    DEFAULT,
    AllocatorSetting,
    chosen_settings,
    read_settings_file,
    settings_of,
    variables_of,
)
from heapwright.base.errors import HeapwrightError

CATALOGUE = Path(__file__).parents[4] / "catalogue"
FILES = sorted((CATALOGUE / "settings").glob("*.toml"))
GOOD = """
allocators = ["mine"]
[[setting]]
name = "depth"
variable = "MINE_DEPTH"
type = "integer"
least = 0
most = 9
levels = ["0", "default", "9"]
default = "4"
since = "1.2"
effect = "deeper is slower"
"""


def setting(**changes: object) -> AllocatorSetting:
    values = {
        "name": "depth",
        "variable": "MINE_DEPTH",
        "type": "integer",
        "least": 0,
        "most": 9,
        "levels": ("0", DEFAULT, "9"),
        "default": "4",
        "effect": "deeper is slower",
    }
    return AllocatorSetting.model_validate({**values, **changes})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_names_registered_allocators_and_their_variables(path: Path) -> None:
    registry = read_catalogue(CATALOGUE / "allocators.toml")
    file = read_settings_file(path)
    for name in file.allocators:
        entry = registry.find(name)
        assert entry is not None
        read = getattr(entry, "settings", ())
        for each in file.setting:
            starts = tuple(variable.rstrip("*") for variable in read)
            assert each.variable.startswith(starts), (name, each.variable)


def test_the_six_allocators_have_settings() -> None:
    for name in ("glibc", "granary", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc"):
        assert settings_of(name)


def test_finer_levels_are_numbers_near_a_level_on_its_scale() -> None:
    near = {each.name: each.finer_levels() for each in settings_of("glibc")}
    assert near["mmap_threshold"] == (("16384", 0), ("262144", 0), ("8388608", 2))
    assert near["tcache_count"] == (("11", 0), ("31", 2), ("508", 2))
    assert near["tcache_max"] == (("16", 0), ("1024", 1)), "256 and 64 are levels"
    assert near["hugetlb"] == ()
    linear = {"most": 100, "levels": ("0", DEFAULT, "40", "100"), "scale": "linear"}
    found = (("25", 0), ("15", 2), ("65", 2), ("75", 3))
    assert setting(**linear).finer_levels() == found
    assert setting(levels=("0", DEFAULT, "1"), scale="log").finer_levels() == (("4", 2),)
    special = {"least": -1, "levels": ("0", DEFAULT, "-1"), "scale": "log"}
    assert setting(**special).finer_levels() == ()
    assert setting().finer_levels() == (), "without a scale there is no distance"


def test_an_allocator_without_settings_is_refused() -> None:
    with pytest.raises(HeapwrightError, match="no settings of lea") as caught:
        settings_of("lea")
    assert "glibc" in caught.value.hint


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ("many", "a whole number"),
        ("-1", "it is 0 to 9"),
        ("10", "it is 0 to 9"),
        ("5 ", "a whole number"),
        ("", "a whole number"),
        ("5x", "a whole number"),
    ],
)
def test_a_value_that_the_allocator_would_not_understand_is_refused(values: str, why: str) -> None:
    assert why in setting().refusal_of(values)


def test_values_of_each_kind_are_accepted() -> None:
    assert not setting().refusal_of("5")
    yes = setting(type="boolean", levels=("default", "true"))
    assert not yes.refusal_of("true")
    assert yes.refusal_of("1")
    time = setting(type="time", choices=("never",), levels=("default", "never"))
    assert not time.refusal_of("250ms")
    assert time.refusal_of("soon") == "depth cannot be 'soon': it is a time such as 250ms or never"


def test_levels_of_the_user_replace_those_of_the_catalogue() -> None:
    (chosen,) = chosen_settings([setting()], ["depth=default,3,7"])
    assert chosen.levels == (DEFAULT, "3", "7")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("dept", "no setting 'dept'"),
        ("depth=0,9", "needs the level default"),
        ("depth=default", "2 to 8 levels"),
        ("depth=default,3,3", "same level twice"),
        ("depth=default,soon", "cannot be 'soon'"),
    ],
)
def test_a_misspelt_setting_of_the_user_is_refused(text: str, why: str) -> None:
    with pytest.raises(HeapwrightError, match=why):
        chosen_settings([setting()], [text])


def test_the_same_setting_twice_is_refused() -> None:
    with pytest.raises(HeapwrightError, match="twice"):
        chosen_settings([setting()], ["depth", "depth=default,1"])


def test_versions_decide_which_settings_there_are() -> None:
    old = setting(since="5.1", until="5.3")
    assert [old.fits(version) for version in ("5.0.9", "5.1", "5.2.1", "5.3.0", "unknown")] == [
        False, True, True, False, True,
    ]  # fmt: skip
    assert old.fits("libtbbmalloc2 5.2.0-2+deb12u1")


def test_settings_of_one_variable_are_joined_beside_what_is_set() -> None:
    both = [
        setting(name="one", variable="GLIBC_TUNABLES", key="glibc.malloc.one"),
        setting(name="two", variable="GLIBC_TUNABLES", key="glibc.malloc.two"),
        setting(),
    ]
    found = variables_of(both, ("1", "2", "3"), {"GLIBC_TUNABLES": "glibc.malloc.check=3"})
    assert found == {
        "GLIBC_TUNABLES": "glibc.malloc.check=3:glibc.malloc.one=1:glibc.malloc.two=2",
        "MINE_DEPTH": "3",
    }
    assert variables_of(both, (DEFAULT,) * 3, {}) == {}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"default", ', "", "level default"),
        ('"9"]', '"10"]', "0 to 9"),
        ("most = 9", "", "least and most"),
        ('type = "integer"', 'type = "number"', "cannot be 'number'"),
        ('effect = "deeper is slower"', "", "missing"),
        ('name = "depth"', 'name = "depth"\ncolour = 1', "no such key"),
        ('variable = "MINE_DEPTH"', 'variable = "GLIBC_TUNABLES"', "key is for a variable"),
        ("[[setting]]", "[[setting", "not a TOML file"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, old: str, new: str, why: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    assert read_settings_file(path).setting[0].name == "depth"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(HeapwrightError, match=why):
        read_settings_file(path)
