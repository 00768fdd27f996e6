# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are in the cache boot. Twice with one seed they record the same bytes, and the
models come near to them under the same requests.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.analysis.kernelsim import model_error
from heapwright.artefacts.kernelsim.document import MODELS
from heapwright.kernel.boot import Asked, boot
from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.image_cache import Built, every
from heapwright.kernel.loads import FILE_KINDS, load_of
from heapwright.kernel.record import record
from heapwright.kernel.records import GuestError
from heapwright.kernelsim.program import ModelRuns, run_trace

CACHE = kernel_cache(os.environ)
KERNELS = list(every(CACHE))


NEAR = 0.15
"""How far the mean of a model's slab memory may be from its kernel's."""


@pytest.mark.slow
def test_a_cached_kernel_boots_twice_alike_and_runs_its_own_allocator() -> None:
    built = KERNELS[0]
    asked = Asked(load_of("nothing", "small"))
    found = boot(built, asked, CACHE)
    assert found.kernel.allocator == built.allocator
    assert found.samples[0].slab_kib > 0
    assert found.responses["oom_kill"] == 0
    assert boot(built, asked, CACHE) == found


@pytest.mark.slow
def test_requests_of_a_kernel_are_recorded_and_every_model_serves_them(
    needs_programs: Callable[..., None], tmp_path: Path
) -> None:
    needs_programs("kernelsim")
    built = KERNELS[0]
    lines, counts = record(built, Asked(load_of("nothing", "small")), CACHE)
    trace = tmp_path / "trace"
    trace.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    assert counts.objects > 10_000
    answer = run_trace(trace, ModelRuns(MODELS, 1))
    assert answer.traffic.kernel.startswith(f"{built.version} {built.allocator} nothing")
    for run in answer.models:
        assert run.refused == 0
        near = model_error(run)
        assert near is not None
        assert near.marks == 2
        if run.model == built.allocator:
            assert abs(near.mean_error) < NEAR


@pytest.mark.slow
def test_a_buffer_that_is_too_small_is_reported_and_nothing_is_made() -> None:
    with pytest.raises(GuestError, match=r"lost [\d,]+ of its events") as caught:
        record(KERNELS[0], Asked(load_of("nothing", "small")), CACHE, buffer_mib=1)
    assert "--buffer 2" in caught.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("built", KERNELS, ids=lambda built: built.key)
def test_a_churn_is_recorded_alike_each_time_and_its_model_comes_near(
    built: Built, needs_programs: Callable[..., None], tmp_path: Path
) -> None:
    needs_programs("kernelsim")
    asked = Asked(load_of("churn", "small"), seed=5)
    traces = [list(record(built, asked, CACHE)[0]) for _ in range(2)]
    assert traces[0] == traces[1]
    trace = tmp_path / "trace"
    trace.write_text("".join(f"{line}\n" for line in traces[0]), encoding="ascii")
    (run,) = run_trace(trace, ModelRuns((built.allocator,), 1)).models
    near = model_error(run)
    assert near is not None
    assert near.kernel_events > 0
    assert abs(near.mean_error) < NEAR
    assert abs(near.worst_error) < NEAR


@pytest.mark.slow
@pytest.mark.parametrize("built", KERNELS, ids=lambda built: built.key)
def test_two_boots_with_one_seed_record_the_same_bytes(built: Built) -> None:
    asked = Asked(load_of("churn", "small"), seed=5)
    first, second = boot(built, asked, CACHE), boot(built, asked, CACHE)
    assert first == second
    assert first.responses["fragmentation_events"] > 0
    assert first.responses["oom_kill"] == 0
    other = boot(built, Asked(load_of("churn", "small"), seed=6), CACHE)
    assert other.records_sha256 != first.records_sha256


@pytest.mark.slow
@pytest.mark.parametrize("built", KERNELS, ids=lambda built: built.key)
@pytest.mark.parametrize("load", [*FILE_KINDS, "memory"])
def test_sysbench_runs_in_the_guest(built: Built, load: str) -> None:
    found = boot(built, Asked(load_of(load, "small")), CACHE)
    assert found.responses["time_s"] > 0
    assert found.responses["events"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("built", KERNELS, ids=lambda built: built.key)
@pytest.mark.parametrize("load", ["web", "compile"])
def test_a_web_server_and_a_compilation_run_alike_each_time(built: Built, load: str) -> None:
    found = boot(built, Asked(load_of(load, "small")), CACHE)
    assert found.responses["time_s"] > 0
    assert found.responses["oom_kill"] == 0
    assert boot(built, Asked(load_of(load, "small")), CACHE) == found
    other = boot(built, Asked(load_of(load, "small"), seed=2), CACHE)
    assert other.records_sha256 != found.records_sha256


@pytest.mark.slow
@pytest.mark.parametrize("built", KERNELS, ids=lambda built: built.key)
def test_several_processors_free_the_objects_of_each_other(built: Built) -> None:
    found = boot(built, Asked(load_of("churn", "small"), seed=5, cpus=2), CACHE)
    assert found.responses["oom_kill"] == 0
    assert found.responses["refused"] == 0


@pytest.mark.slow
def test_a_guest_that_takes_too_long_is_ended_and_shown() -> None:
    asked = Asked(load_of("churn", "published"), timeout_s=2)
    with pytest.raises(GuestError, match="not done after 2 s"):
        boot(KERNELS[0], asked, CACHE)
