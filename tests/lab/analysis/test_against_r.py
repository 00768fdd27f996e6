# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The same data through R. Its aov, TukeyHSD and multcomp's Dunnett intervals must agree with this
project's.

Needs Rscript and the package multcomp (Debian: r-base-core, r-cran-multcomp).
"""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from heapwright.analysis.blocked import BlockedFit, Cells, comparable, fit
from heapwright.analysis.intervals import dunnett
from heapwright.analysis.tukey import all_pairs
from support.running import ran

SCRIPT = Path(__file__).with_name("against_r.R")

Figures = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Case:
    """A simulated experiment; `missing` is the share of holes."""

    name: str
    blocks: int
    k: int
    missing: float


CASES = (
    Case("small", 3, 2, 0),
    Case("balanced", 5, 4, 0),
    Case("many", 9, 9, 0),
    Case("holes", 8, 6, 0.15),
    Case("sparse", 6, 4, 0.35),
)


@pytest.fixture(scope="module")
def models(
    make_cells: Callable[[NDArray[np.float64]], Cells],
    simulate: Callable[..., NDArray[np.float64]],
) -> dict[str, BlockedFit]:
    effects = {case.name: -0.02 * np.arange(case.k) for case in CASES}
    return {
        case.name: fit(
            comparable(
                make_cells(simulate(seed, case.blocks, effects[case.name], missing=case.missing))
            )
        )
        for seed, case in enumerate(CASES)
    }


@pytest.fixture(scope="module")
def answers(
    models: dict[str, BlockedFit], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Figures]:
    """What R says of each case: (kind, name) -> figure."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("Rscript is not installed (r-base-core)")
    probe = [rscript, "-e", 'quit(status = !requireNamespace("multcomp", quietly = TRUE))']
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("R's package multcomp is not installed (r-cran-multcomp)")
    folder = tmp_path_factory.mktemp("r")
    for name, model in models.items():
        write_csv(folder / name, model)
    done = ran([rscript, "--vanilla", SCRIPT, *models], cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Figures] = {name: {} for name in models}
    for line in done.stdout.splitlines():
        file, kind, what, value = (part.strip() for part in line.split(","))
        found[file][kind, what] = float(value)
    return found


def write_csv(path: Path, model: BlockedFit) -> None:
    values = model.cells.log_values
    lines = ["block,allocator,t"]
    for row, column in zip(*np.nonzero(np.isfinite(values)), strict=True):
        name = model.treatments[column][0]
        lines.append(f"{row},{name},{float(np.exp(values[row, column]))!r}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def names(model: BlockedFit) -> list[str]:
    return [allocator for allocator, _ in model.treatments]


@pytest.mark.programs
@pytest.mark.parametrize("case", [case.name for case in CASES])
def test_the_analysis_of_variance(
    case: str, models: dict[str, BlockedFit], answers: dict[str, Figures]
) -> None:
    model, said = models[case], answers[case]
    for term, row in zip(model.anova, ("block", "allocator", "Residuals"), strict=True):
        assert term.sum_of_squares == pytest.approx(said["squares", row], rel=1e-8)
        if row != "Residuals":
            assert term.f == pytest.approx(said["f", row], rel=1e-8)
            assert term.p == pytest.approx(said["p", row], rel=1e-6)
    assert model.sigma == pytest.approx(said["sigma", "sigma"], rel=1e-8)


@pytest.mark.programs
@pytest.mark.parametrize("case", [case.name for case in CASES])
def test_dunnett_intervals(
    case: str, models: dict[str, BlockedFit], answers: dict[str, Figures]
) -> None:
    model, said = models[case], answers[case]
    found = dunnett(model, 0.95)
    for number, name in list(enumerate(names(model)))[1:]:
        assert np.exp(model.effects[number]) == pytest.approx(said["ratio", name], rel=1e-9)
        assert np.exp(found.low[number]) == pytest.approx(said["low", name], abs=1e-3)
        assert np.exp(found.high[number]) == pytest.approx(said["high", name], abs=1e-3)


@pytest.mark.programs
@pytest.mark.parametrize("case", [case.name for case in CASES])
def test_all_pairs(case: str, models: dict[str, BlockedFit], answers: dict[str, Figures]) -> None:
    model, said = models[case], answers[case]
    pairs = all_pairs(model)
    p, half = pairs.p_values(), pairs.half_widths(0.95)
    label = names(model)
    compared = 0
    for j in range(len(label)):
        for i in range(j):
            name = f"{label[j]}-{label[i]}"
            assert p[i, j] == pytest.approx(said["pair", name], abs=1e-4)
            if ("pairlow", name) in said:
                assert pairs.difference[j, i] - half[j, i] == pytest.approx(
                    said["pairlow", name], abs=1e-4
                )
                assert pairs.difference[j, i] + half[j, i] == pytest.approx(
                    said["pairhigh", name], abs=1e-4
                )
            compared += 1
    assert compared == sum(1 for kind, _ in said if kind == "pair")
