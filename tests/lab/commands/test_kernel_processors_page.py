# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the kernel's allocators by processors is what its script makes of the runs."""

from types import ModuleType

import pytest

from support.scripts import ROOT, load_script


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("scripts/kernel_processors_page.py")


def test_it_is_up_to_date(script: ModuleType) -> None:
    made: str = script.page()
    kept = (ROOT / script.PAGE).read_text(encoding="utf-8")
    assert kept == made, "run scripts/kernel_processors_page.py"


def test_neighbours_are_apart_if_the_interval_of_their_ratio_is(script: ModuleType) -> None:
    means = {
        "slub": [100.0, 101.0, 99.0],
        "slab": [50.0, 51.0, 50.0],
        "slqb": [101.0, 99.0, 101.0],
        "slob": [300.0, 310.0, 290.0],
    }
    assert script.order(means) == "slab < slub = slqb < slob"
