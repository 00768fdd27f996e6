# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A model beside the kernel that its trace was recorded on."""

from collections.abc import Sequence

import pytest

from heapwright.analysis.kernelsim import model_error
from heapwright.artefacts.kernelsim.document import (
    Fragmentation,
    KernelSample,
    ModelRun,
    Recorded,
    SlabPages,
)
from support.documents import made

NONE = (0,) * 11


def sampled(model: int, kernel: int | None, events: int = 0) -> KernelSample:
    recorded = (
        None if kernel is None else Recorded(slab_pages=kernel, fragmentation_events=2 * events)
    )
    return made(KernelSample, slab_pages=model, fragmentation_events=events, recorded=recorded)


def run(samples: Sequence[KernelSample]) -> ModelRun:
    return made(
        ModelRun,
        model="slub",
        seconds=1,
        rounds=(1,),
        takes=1,
        gives=1,
        slab_pages=SlabPages(mean=1, peak=1, end=1, kept=1, of_caches=0),
        slabs_taken=1,
        slabs_given=1,
        fragmentation=made(
            Fragmentation, by_order=(NONE,) * 11, unusable=(0.0,) * 11, index=(0.0,) * 11
        ),
        samples=tuple(samples),
    )


def test_errors_are_of_the_mean_of_the_worst_mark_and_of_what_came() -> None:
    found = model_error(
        run([sampled(7, None), sampled(90, 100), sampled(210, 200), sampled(290, 400, 3)])
    )
    assert found is not None
    assert (found.marks, found.model_events, found.kernel_events) == (3, 3, 6)
    assert found.kernel_pages == pytest.approx(700 / 3)
    assert found.mean_error == pytest.approx(590 / 700 - 1)
    assert found.worst_error == pytest.approx(-0.275)
    assert found.growth_error == pytest.approx((590 - 270) / (700 - 300) - 1)


def test_a_model_that_does_as_its_kernel_has_no_error() -> None:
    found = model_error(run([sampled(100, 100), sampled(150, 150)]))
    assert found is not None
    assert (found.mean_error, found.worst_error, found.growth_error) == (0, 0, 0)


def test_without_marks_or_growth_there_is_no_figure() -> None:
    assert model_error(run([sampled(7, None)])) is None
    assert model_error(run([sampled(7, 0)])) is None
    shrinking = model_error(run([sampled(9, 9), sampled(8, 8)]))
    assert shrinking is not None
    assert shrinking.growth_error is None
