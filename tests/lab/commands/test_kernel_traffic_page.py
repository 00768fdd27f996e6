# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of recorded kernel traffic is what its script makes of the documents beside it."""

from types import ModuleType

import pytest

from heapwright.artefacts.kernelsim.document import MODELS
from support.scripts import ROOT, load_script


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("scripts/kernel_traffic_page.py")


def test_it_is_up_to_date(script: ModuleType) -> None:
    made: str = script.page()
    kept = (ROOT / script.PAGE).read_text(encoding="utf-8")
    assert kept == made, "run scripts/kernel_traffic_page.py"


def test_every_traffic_was_served_whole_by_every_model(script: ModuleType) -> None:
    for name, document in script.documents(ROOT).items():
        (answer,) = document.runs
        load = answer.traffic.kernel.split()[2]
        processors = answer.traffic.processors
        assert name == (load if processors == 1 else f"{load}-{processors}-processors")
        assert {run.model for run in answer.models} == set(MODELS)
        assert all(run.refused == 0 for run in answer.models)


def test_every_kernel_replayed_the_whole_trace_that_the_models_served(script: ModuleType) -> None:
    models = script.documents(ROOT)
    replays = script.replays(ROOT)
    assert replays.keys() == models.keys()
    for name, document in replays.items():
        (answer,) = models[name].runs
        assert document.trace_sha256 == models[name].trace_sha256
        assert document.prelude + document.timed == answer.traffic.events
        assert sorted(each.kernel.allocator for each in document.kernels) == sorted(MODELS)
        for each in document.kernels:
            assert each.refused == 0
            assert (each.time == "virtual") == (document.processors == 1)


def test_the_order_joins_neighbours_within_a_hundredth(script: ModuleType) -> None:
    assert script.order({"slab": 101.0, "slob": 300.0, "slub": 100.0}) == "slub = slab < slob"
    assert script.order({"slab": 0.0, "slub": 0.0}) == "slab = slub"


def test_models_within_a_hundredth_share_the_first_place(script: ModuleType) -> None:
    assert (
        script.least({"slab": 100.0, "slob": 101.0, "slub": 102.0, "slqb": 250.0}) == "slab, slob"
    )
    assert script.least(dict.fromkeys(MODELS, 0.0)) == "all"
    assert script.least({"slab": 0.0, "slob": 3.0, "slub": 1.0, "slqb": 2.0}) == "slab"
