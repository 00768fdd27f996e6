# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Design, journal and figures of a study of kernels, without a kernel."""

from collections import Counter
from pathlib import Path

import pytest

from heapwright.analysis.kernel_study import figures
from heapwright.artefacts.kernel_study.boot import Kernel, KernelBoot
from heapwright.artefacts.kernel_study.document import (
    BOOTS_FILE,
    Cell,
    KernelDesign,
    KernelRun,
    append_run,
    read_design,
    read_runs,
    write_design,
)
from heapwright.artefacts.run.provenance import read_environment
from heapwright.base.errors import HeapwrightError
from heapwright.kernel.design import Factors, cells
from heapwright.kernel.folders import shipped
from heapwright.report.kernel.page import study_page
from heapwright.report.kernel.summary import ratio_of
from heapwright.report.kernel.text import figure
from support.documents import made

NAMES = ("slub", "slab", "slob")


def run(cell: Cell, **found: float) -> KernelRun:
    kernel = made(Kernel, key=f"{cell.allocator}-1", allocator=cell.allocator)
    boot = made(KernelBoot, kernel=kernel, load=cell.load, seed=cell.block, responses=found)
    return KernelRun(cell=cell, boot=boot)


def design() -> KernelDesign:
    return KernelDesign(
        scale="small",
        seed=1,
        kernels={name: f"{name}-1" for name in NAMES},
        cells=cells(Factors(NAMES, ["churn"]), 2, 1),
        machine=read_environment([], {}),
    )


def test_every_block_has_every_load_under_every_kernel_once() -> None:
    factors = Factors(NAMES, ["churn", "paths"], [1, 2], [128, 256])
    order = cells(factors, 4, 7)
    assert len(order) == 4 * 2 * 2 * 2 * 3 == len(set(order))
    assert [each.block for each in order] == sorted(each.block for each in order)
    per = Counter((each.block, each.load, each.cpus, each.memory_mib) for each in order)
    assert set(per.values()) == {3}
    assert order == cells(factors, 4, 7)
    assert len({tuple(each.allocator for each in order[at : at + 3]) for at in range(0, 96, 3)}) > 1


def test_figures_are_paired_by_seed() -> None:
    runs = []
    for block, base in enumerate((2.0, 4.0, 8.0), start=1):
        for name, factor in (("slub", 1.0), ("slob", 1.5), ("slab", 1.0)):
            cell = Cell(block=block, load="churn", cpus=1, allocator=name)
            runs.append(run(cell, time_s=base * factor))
    found = {each.allocator: each for each in figures(runs)}
    assert found["slob"].ratio == pytest.approx(1.5)
    assert found["slob"].low == pytest.approx(1.5)
    assert found["slob"].mean == pytest.approx(7.0)
    assert ratio_of(found["slab"]) == "1.000"


def test_a_figure_that_is_zero_has_no_ratio_and_one_seed_no_interval() -> None:
    pair = [Cell(block=1, load="churn", cpus=1, allocator=name) for name in ("slub", "slob")]
    found = figures([run(pair[0], events=0, time_s=2), run(pair[1], events=3, time_s=3)])
    by = {(each.response, each.allocator): each for each in found}
    assert by["events", "slob"].ratio is None
    assert ratio_of(by["time_s", "slob"]) == "1.500"


def test_lines_are_read_back_without_a_torn_one(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    made = design()
    write_design(folder, made)
    assert read_design(folder) == made
    first, second = (run(cell, time_s=1.0) for cell in made.cells[:2])
    append_run(folder, first)
    with (folder / BOOTS_FILE).open("a", encoding="utf-8") as file:
        file.write('{"cell":')
    append_run(folder, second)
    assert list(read_runs(folder)) == [first, second]
    with pytest.raises(HeapwrightError, match="is not empty"):
        write_design(folder, made)


def test_a_folder_without_a_design_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="holds no study of kernels"):
        read_design(tmp_path)


def test_the_page_shows_figures_failures_and_what_was_published() -> None:
    made = design()
    runs = [run(cell, time_s=1.0) for cell in made.cells[:3]]
    runs.append(KernelRun(cell=made.cells[3], failure="the guest died <here>"))
    published = sorted((shipped() / "published").glob("*.csv"))
    page = study_page(made, runs, figures(runs), published)
    assert len(published) == 2
    assert "191.7" in page
    assert "the guest died &lt;here&gt;" in page
    assert "time_s" in page
    assert "1; 1.000" in page


def test_numbers_are_written_as_people_read_them() -> None:
    assert [figure(value) for value in (0, 4, 54.4512, 105_400.33, 16_310.67, 0.21579)] == [
        *("0", "4", "54.45", "105,400", "16,311", "0.2158"),
    ]
