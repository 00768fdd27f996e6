# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A load as text, and the driver that reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.kernelsim.document import MODELS
from heapwright.artefacts.kernelsim.load import Activity, CacheKind, Fill, KernelLoad, Part
from heapwright.artefacts.kernelsim.load_file import changed, read_load
from heapwright.base.errors import HeapwrightError
from heapwright.kernelsim.load_text import load_text
from heapwright.kernelsim.program import ModelRuns, run_load, run_trace, write_trace

LOADS = sorted((Path(__file__).parents[3] / "catalogue" / "loads").glob("*.toml"))


@pytest.fixture(autouse=True)
def _program(needs_programs: Callable[..., None], request: pytest.FixtureRequest) -> None:
    if request.function.__name__ != "test_a_load_as_text":
        needs_programs("kernelsim")


def test_a_load_as_text() -> None:
    load = KernelLoad(
        format=1,
        name="mine",
        title="",
        operations=10,
        memory=16,
        cache={"inode": CacheKind(size=600, reclaimable=True)},
        fill=Fill(share=0.5),
        activity=(
            Activity(
                name="one",
                weight=2,
                life="dropped",
                parts=(
                    Part(cache="inode", count=(1, 2)),
                    Part(bytes=64, life="end"),  # type: ignore[call-arg]  # the name in files
                    Part(pages=2, mobility="movable"),
                ),
            ),
        ),
    )
    assert load_text(load).splitlines() == [
        "heapwright-kernel-load 1",
        "memory 16",
        "operations 10",
        "nanoseconds 10000",
        "caches 1",
        "cache 600 8 0 1 inode",
        "fill 0.5 0",
        "reclaim 0 0",
        "activities 1",
        "activity 2 0 dropped 3",
        "object 0 1 2 with",
        "general 64 64 1 1 end",
        "pages 2 1 1 1 with",
        "end",
    ]


@pytest.mark.parametrize("path", LOADS, ids=lambda path: path.stem)
def test_the_driver_runs_every_shipped_load(path: Path) -> None:
    load = changed(read_load(path).load, {"operations": 3_000})
    answer = run_load(load, ModelRuns(MODELS, 1), processors=2, seed=1)
    assert [run.model for run in answer.models] == list(MODELS)
    assert answer.traffic.processors == 2
    for run in answer.models:
        assert run.refused == 0
        assert run.fragmentation.events == sum(map(sum, run.fragmentation.by_order))
        assert run.fragmentation.events > 0
        assert run.slab_pages.peak >= run.slab_pages.mean > 0
        assert sum(line.live for line in run.caches if line.name != "all") <= run.takes


def test_a_load_and_its_trace_come_to_the_same(tmp_path: Path) -> None:
    path = next(each for each in LOADS if each.stem == "messages")
    load = changed(read_load(path).load, {"operations": 2_000})
    trace = tmp_path / "trace"
    write_trace(load, trace, processors=3, seed=9)
    told = run_trace(trace, ModelRuns(MODELS, 2))
    drawn = run_load(load, ModelRuns(MODELS, 2), processors=3, seed=9)
    untimed = {"seconds": 0.0, "rounds": ()}
    for one, other in zip(told.models, drawn.models, strict=True):
        assert one.model_copy(update=untimed) == other.model_copy(update=untimed)


def test_a_function_that_frees_is_no_trace(tmp_path: Path) -> None:
    path = next(each for each in LOADS if each.stem == "fileio-like")
    load = changed(read_load(path).load, {"operations": 500})
    with pytest.raises(HeapwrightError, match="the trace could not be made: a load in which"):
        write_trace(load, tmp_path / "trace", processors=1, seed=1)
