# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Models of the kernel's allocators on the console, wide and narrow."""

import io

from heapwright.analysis.kernelsim import model_errors
from heapwright.artefacts.kernelsim.document import (
    CacheLine,
    Fragmentation,
    KernelModels,
    KernelTraffic,
    ModelRun,
    ModelsAnswer,
    SlabPages,
)
from heapwright.report.console import make_console
from heapwright.report.kernelsim import print_caches, print_models

NONE = (0,) * 11


def run(model: str, seconds: float, mean: int) -> ModelRun:
    return ModelRun.model_validate(
        {
            "model": model,
            "seconds": seconds,
            "rounds": (seconds,),
            "takes": 100,
            "gives": 90,
            "remote_frees": 1_234,
            "block_takes": 5,
            "refused": 0,
            "dropped": 0,
            "slab_pages": SlabPages(mean=mean, peak=300, end=250, kept=4, of_caches=2),
            "slabs_taken": 20,
            "slabs_given": 10,
            "fragmentation": Fragmentation(
                events=17,
                claimed=1,
                by_order=(NONE,) * 11,
                unusable=(0.0,) * 9 + (0.25, 0.5),
                index=(-1.0,) * 11,
            ),
            "caches": (
                CacheLine(
                    name="inode",
                    size=600,
                    stride=608,
                    live=3,
                    objects=6,
                    slabs=1,
                    pages=1,
                    remote_frees=2,
                ),
            ),
            "samples": (),
        }
    )


DOCUMENT = KernelModels(
    load="churn",
    seed=7,
    notes=("something must be known",),
    runs=(
        ModelsAnswer(
            traffic=KernelTraffic(
                kernel="", processors=4, memory_pages=4096, events=12_345, prelude=5, lasts=1.5
            ),
            models=(run("slab", 0.0125, 200), run("slob", 0.05, 100)),
        ),
    ),
)


def printed(width: int | None, *, quiet: bool = False) -> str:
    stream = io.StringIO()
    console = make_console(stream, width=width)
    print_models(console, DOCUMENT, quiet=quiet)
    print_caches(console, DOCUMENT)
    return stream.getvalue()


def test_figures_stand_in_a_table() -> None:
    text = printed(None)
    assert "load churn, seed 7: 12,345 events, a machine of 16 MiB" in text
    assert "On 4 processors slab is the fastest, slob the leanest." in text
    assert "- something must be known" in text
    (row,) = (line.split() for line in text.splitlines() if line.startswith("slab "))
    assert row == ["slab", "4", "12.5", "800", "1,200", "1,000", "16", "17", "25%", "1,234", "0"]


def test_a_narrow_terminal_loses_nothing() -> None:
    text = printed(30)
    assert max(map(len, text.splitlines())) <= 30
    for figure in ("12.5", "1,234", "1,200", "inode", "608"):
        assert figure in text


def test_quiet_leaves_the_table() -> None:
    text = printed(None, quiet=True)
    assert "seed" not in text
    assert "slob" in text


def test_a_trace_with_marks_has_its_kernel_beside_the_models() -> None:
    traffic = KernelTraffic(
        kernel="6.1.90 slub churn", processors=1, memory_pages=4096, events=9, prelude=5, lasts=1.5
    )
    models = tuple(with_marks(name, pages) for name, pages in (("slab", 110), ("slub", 90)))
    document = KernelModels(trace="t", runs=(ModelsAnswer(traffic=traffic, models=models),))
    stream = io.StringIO()
    print_models(make_console(stream, width=None), document, model_errors(document), quiet=True)
    text = stream.getvalue()
    assert "Beside the kernel 6.1.90 slub churn, at 2 marks" in text
    (row,) = (line.split() for line in text.splitlines()[5:] if line.startswith("slab "))
    assert row == ["slab", "440", "600", "-26.7%", "-45.0%", "-100.0%", "2", "3"]


def with_marks(model: str, pages: int) -> ModelRun:
    sample = {
        "at": 0.0,
        "slab_pages": pages,
        "other_pages": 0,
        "free_pages": 0,
        "live_bytes": 0,
        "fragmentation_events": 2,
        "unusable": 0,
    }
    kernels = [{"slab_pages": each, "fragmentation_events": 3} for each in (100, 200)]
    marked = [{**sample, "recorded": each} for each in kernels]
    begun = {**sample, "recorded": None}
    plain = run(model, 0.01, 100).model_dump()
    return ModelRun.model_validate({**plain, "samples": [begun, *marked]})


def test_a_document_is_read_as_it_was_written() -> None:
    assert KernelModels.from_json(DOCUMENT.to_json()) == DOCUMENT
    assert DOCUMENT.to_json().count("\n") == 1
