# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Regions and reaps beside other arenas: the bars, the interval, and that all give the same."""

import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from support.scripts import load_script


@pytest.fixture(scope="module")
def regions() -> ModuleType:
    return load_script("benchmarks/regions/run.py")


def test_the_interval_of_a_median_lies_between_two_of_the_values(regions: ModuleType) -> None:
    values = [1 + i / 100 for i in range(100)]
    ratio = regions.Ratio.of(list(reversed(values)))
    assert ratio.median == pytest.approx(1.495)
    assert (ratio.low, ratio.high) == (values[40], values[60])  # the 41st and the 61st, of 95 %
    assert regions.Ratio.of([2.0]) == regions.Ratio(2.0, 2.0, 2.0)


def missed(regions: ModuleType, **changed: float) -> list[str]:
    """Which bars figures miss that hold all of them but for what is changed."""
    figures = {
        **dict.fromkeys(regions.OURS, 1.0),
        **dict.fromkeys(regions.AS_REGIONS, 1.05),
        **dict.fromkeys(regions.FREEING, 1.08),
        "APR pool": 1.02,
        "GNU obstack": 1.3,
        **dict.fromkeys(regions.SAME_SEMANTICS, 1.4),
        **changed,
    }
    found = {name: regions.Ratio(at - 0.01, at, at + 0.01) for name, at in figures.items()}
    return [line for line, miss in regions.bars(found) if miss]


def test_a_bar_is_missed_by_the_whole_interval_only(regions: ModuleType) -> None:
    assert missed(regions) == []
    assert missed(regions, **{"reap as a region": 1.085}) == []
    (line,) = missed(regions, **{"reap as a region": 1.1})
    assert line.startswith("reap as a region at most 1.08")
    assert missed(regions, **{"APR pool": 0.995}) == []
    assert any("no slower than APR pool" in line for line in missed(regions, **{"APR pool": 0.98}))
    (line,) = missed(regions, **{"vmalloc regions": 1.01})
    assert line.startswith("reap as a region faster than vmalloc regions")
    (line,) = missed(regions, reap=1.2)
    assert line.startswith("reap at most 1.10 of APR pool")


def test_an_arm_of_another_name_is_an_error(regions: ModuleType) -> None:
    names = (*regions.OURS, *regions.AS_REGIONS, *regions.FREEING, *regions.OTHERS)
    with pytest.raises(KeyError, match=regions.SAME_SEMANTICS[0]):
        regions.bars(dict.fromkeys(names, regions.Ratio.of([1.0])))


@pytest.mark.slow
def test_all_arenas_give_the_same(regions: ModuleType, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++ (package g++)")
    program = regions.build(tmp_path)
    for load in regions.LOADS:
        times = json.loads(regions.output([program, load, "1"]))
        ours = {*regions.OURS, *regions.AS_REGIONS, *regions.FREEING, *regions.SAME_SEMANTICS}
        assert set(times) >= {*ours, "GNU obstack", "malloc"}
        assert all(len(seconds) == 1 and seconds[0] > 0 for seconds in times.values())
        if shutil.which("valgrind") is not None:
            assert regions.instructions(program, load, "region") > 10_000_000
